import { findVisibleProject, type Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { readRefValues } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import { checkMoves } from './check-rules.ts'
import { finalizePush, openPush } from './journal/record.ts'
import { isDeletion, type Push, type RefMove, type Refusal } from './moves.ts'
import type { ObjectFacts } from './object-facts.ts'

/**
 * How refs of one repository move: its rules, and its records before and after. Pushes and the API use the same one, be
 * it for the code of a project, a wiki or a snippet.
 */
export interface RefUpdater {
  readonly repo: Repo
  /** Why these moves may not be; without `objects`, as far as that is known without new commits. */
  check(push: Push, objects: ObjectFacts | undefined): Promise<readonly Refusal[]>
  /** Records what is about to move, and the git process that will move it; gives the id to finalize with. */
  open(push: Push, process?: string | null): Promise<number>
  /** Records which refs did move, and what follows from it. */
  finalize(pushId: number, moved: ReadonlySet<string>): Promise<void>
}

/** Moves refs of the code of a project. */
export function projectUpdater(ctx: Ctx, project: Project): RefUpdater {
  return {
    repo: ctx.git.open(project.id),
    check: async (push, objects) => {
      if (objects === undefined || push.via !== 'push')
        return checkMoves(ctx, project, push, objects)
      // Commits of a push may take long to come: who may do what has to hold when they are there.
      const now = await findVisibleProject(ctx, String(project.id))
      if (now) return checkMoves(ctx, now, push, objects)
      return push.moves.map(({ name }) => ({ name, reason: 'The project could not be found.' }))
    },
    open: (push, process = null) => openPush(ctx, { projectId: project.id }, push, process),
    finalize: (pushId, moved) => finalizePush(ctx, project.id, pushId, moved),
  }
}

/**
 * As `finalize`, for refs that have moved already: nothing takes that back. Should the database refuse, the push stays
 * open, and `refs.recover` finalizes it.
 */
export async function finalizeMoved(
  ctx: Pick<Ctx, 'log'>,
  updater: RefUpdater,
  pushId: number,
  moved: ReadonlySet<string>,
): Promise<void> {
  try {
    await updater.finalize(pushId, moved)
  } catch (error) {
    ctx.log.error('a push stays open', { error, push: pushId, repository: updater.repo.key })
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

/** After a failed move: a clear refusal has moved nothing, after any other end the refs decide. */
export async function movedDespite(
  error: unknown,
  repo: Repo,
  moves: readonly RefMove[],
): Promise<ReadonlySet<string>> {
  const isClear = error instanceof GitError && error.code !== 'failed' && error.code !== 'timeout'
  return isClear ? new Set() : await readMoved(repo, moves)
}
