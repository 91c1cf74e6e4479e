import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { readRefValues } from '../../git/refs/ref-values.ts'
import type { Repo } from '../../git/repo.ts'
import { gate } from './gate.ts'
import { isDeletion, type Push, type RefMove, type Refusal } from './moves.ts'
import type { ObjectFacts } from './object-facts.ts'
import { openPush, settlePush } from './record-move.ts'

/**
 * How refs of one repository move: its rules, and its records before and after. Pushes and the API come in by the same
 * door, be it to the code of a project, a wiki or a snippet.
 */
export interface RefDoor {
  readonly repo: Repo
  /** Why these moves may not be; without `objects`, as far as can be told without new commits. */
  gate(push: Push, objects: ObjectFacts | undefined): Promise<readonly Refusal[]>
  /** Records what is about to move, and the git process that will move it; gives the id to settle with. */
  open(push: Push, process?: string | null): Promise<number>
  /** Records which refs did move, and what follows from it. */
  settle(pushId: number, moved: ReadonlySet<string>): Promise<void>
}

/** The door to the code of a project. */
export function projectDoor(ctx: Ctx, project: Project): RefDoor {
  return {
    repo: ctx.git.open(project.id),
    gate: (push, objects) => gate(ctx, project, push, objects),
    open: (push, process = null) => openPush(ctx, project.id, push, process),
    settle: (pushId, moved) => settlePush(ctx, project.id, pushId, moved),
  }
}

/**
 * As `settle`, for refs that have moved already: nothing takes that back. Should the database refuse, the push stays
 * open, and `refs.recover` settles it.
 */
export async function settleMoved(
  ctx: Pick<Ctx, 'log'>,
  door: RefDoor,
  pushId: number,
  moved: ReadonlySet<string>,
): Promise<void> {
  try {
    await door.settle(pushId, moved)
  } catch (error) {
    ctx.log.error('a push stays open', { error, push: pushId, repository: door.repo.key })
  }
}

/** The names of those refs that are where they were to move, when whoever moved them was cut off before it could say. */
export async function readMoved(
  repo: Repo,
  moves: readonly RefMove[],
): Promise<ReadonlySet<string>> {
  const names = moves.map(({ name }) => name)
  const values = await readRefValues(repo, names)
  const moved = moves.filter((move) =>
    isDeletion(move) ? !values.has(move.name) : values.get(move.name) === move.newId,
  )
  return new Set(moved.map(({ name }) => name))
}

/** After a failed move: a clear refusal has moved nothing, after any other end the refs tell. */
export async function movedDespite(
  error: unknown,
  repo: Repo,
  moves: readonly RefMove[],
): Promise<ReadonlySet<string>> {
  const isClear = error instanceof GitError && error.code !== 'failed' && error.code !== 'timeout'
  return isClear ? new Set() : await readMoved(repo, moves)
}
