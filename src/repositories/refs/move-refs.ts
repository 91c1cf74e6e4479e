import type { Project } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { updateRefs } from '../../git/refs/update-refs.ts'
import type { Push } from './moves.ts'
import { objectFacts } from './object-facts.ts'
import { finalizeMoved, movedDespite, projectUpdater, type RefUpdater } from './ref-updater.ts'

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
  return moveWith(ctx, projectUpdater(ctx, project), push, atStep)
}

/** As `moveRefs`, for any repository. */
export async function moveWith(
  ctx: Ctx,
  updater: RefUpdater,
  push: Push,
  atStep: (step: MoveStep) => void = () => {},
): Promise<void> {
  const [refusal] = await updater.check(push, objectFacts(updater.repo))
  if (refusal) throw new MoveRefused(refusal.reason)
  atStep('before intent')
  const pushId = await updater.open(push)
  atStep('after intent')
  await updater.repo.moves.run(updater.repo.key, async () => {
    try {
      await updateRefs(updater.repo, push.moves)
    } catch (error) {
      const moved = await movedDespite(error, updater.repo, push.moves)
      await finalizeMoved(ctx, updater, pushId, moved)
      if (moved.size < push.moves.length) throw error
      return
    }
    atStep('after refs')
    await finalizeMoved(ctx, updater, pushId, new Set(push.moves.map((move) => move.name)))
    atStep('after effects')
  })
}
