import type { Ctx } from '../../ctx.ts'
import {
  asRestricted,
  type SharedRunners,
  sharedRunners,
  sharedRunnersOf,
} from '../namespaces/shared-runners.ts'
import { restrictProjectRunners } from '../projects/below.ts'
import { restrictRunners } from './tree-queries.ts'

/** What a group above says of the runners of the instance binds all below where it cannot be overridden. */
export function sharedRunnersFaults(
  wanted: SharedRunners,
  parent: SharedRunners | undefined,
): string[] {
  if (parent !== 'disabled_and_unoverridable' || wanted === parent) return []
  return ['cannot be enabled because parent group has shared Runners disabled']
}

/**
 * Lets everything below a group follow its new word: a stricter one switches the runners of the instance off there, a
 * looser one leaves what is below as it is (docs/contract/D §1.3 Fields).
 */
export async function followSharedRunners(
  ctx: Ctx,
  groupId: number,
  from: SharedRunners,
  to: SharedRunners,
): Promise<void> {
  if (sharedRunners.indexOf(to) <= sharedRunners.indexOf(from)) return
  await restrictRunners(ctx.db, groupId, to, ctx.now())
  await restrictProjectRunners(ctx, groupId)
}

/** A group comes below another: no looser than that one. */
export async function restrictTo(
  ctx: Ctx,
  group: { readonly id: number; readonly settings: Readonly<Record<string, unknown>> },
  parent: { readonly settings: Readonly<Record<string, unknown>> },
): Promise<void> {
  const own = sharedRunnersOf(group.settings)
  await followSharedRunners(ctx, group.id, own, asRestricted(own, sharedRunnersOf(parent.settings)))
}
