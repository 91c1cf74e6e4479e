import type { Project } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { updateRefs } from '../../git/update-refs.ts'
import { gate } from './gate.ts'
import type { Push } from './moves.ts'
import { objectFacts } from './object-facts.ts'
import { openPush, settleMoved, settlePush } from './record-move.ts'

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
export async function moveRefs(
  ctx: Ctx,
  project: Project,
  push: Push,
  atStep: (step: MoveStep) => void = () => {},
): Promise<void> {
  const repo = ctx.git.open(project.id)
  const [refusal] = await gate(ctx, project, push, objectFacts(repo))
  if (refusal) throw new MoveRefused(refusal.reason)
  atStep('before intent')
  const pushId = await openPush(ctx, project.id, push)
  atStep('after intent')
  try {
    await updateRefs(repo, push.moves)
  } catch (error) {
    await settlePush(ctx, project.id, pushId, new Set())
    throw error
  }
  atStep('after refs')
  await settleMoved(ctx, project.id, pushId, new Set(push.moves.map((move) => move.name)))
  atStep('after effects')
}
