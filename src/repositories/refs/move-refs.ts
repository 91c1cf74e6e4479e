import type { Project } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { updateRefs } from '../../git/refs/update-refs.ts'
import { movedDespite, projectDoor, type RefDoor, settleMoved } from './door.ts'
import type { Push } from './moves.ts'
import { objectFacts } from './object-facts.ts'

/** 403 with the sentence of the rule that refused a move; `reason` is that sentence alone. */
export class MoveRefused extends Problem {
  readonly reason: string
  constructor(reason: string) {
    super('forbidden', 403, { message: `403 Forbidden - ${reason}` })
    this.reason = reason
  }
}

/** Where a crash test may stop the process; nothing else has a use for it. */
export type MoveStep = 'before intent' | 'after intent' | 'after refs' | 'after effects'

/**
 * The one way to move refs from inside: rules, a row of intent, the moves all together or not at
 * all, then their effects. The objects must be in the repository. 403 with the rule's sentence when
 * refused; `stale`, `exists`, `conflict` or `locked` when a ref is not where `oldId` says.
 */
export function moveRefs(
  ctx: Ctx,
  project: Project,
  push: Push,
  atStep: (step: MoveStep) => void = () => {},
): Promise<void> {
  return moveThrough(ctx, projectDoor(ctx, project), push, atStep)
}

/** As `moveRefs`, by the door of any repository. */
export async function moveThrough(
  ctx: Ctx,
  door: RefDoor,
  push: Push,
  atStep: (step: MoveStep) => void = () => {},
): Promise<void> {
  const [refusal] = await door.gate(push, objectFacts(door.repo))
  if (refusal) throw new MoveRefused(refusal.reason)
  atStep('before intent')
  const pushId = await door.open(push)
  atStep('after intent')
  try {
    await updateRefs(door.repo, push.moves)
  } catch (error) {
    const moved = await movedDespite(error, door.repo, push.moves)
    await settleMoved(ctx, door, pushId, moved)
    if (moved.size < push.moves.length) throw error
    return
  }
  atStep('after refs')
  await settleMoved(ctx, door, pushId, new Set(push.moves.map((move) => move.name)))
  atStep('after effects')
}
