import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { mailUser } from '../../identity/mail/mail-user.ts'
import { findGroupPath, listOwnerIds } from './owner-queries.ts'

/** Mails the Owners of a group how the cleanup of its virtual registries went. */
export async function mailOwners(
  ctx: Ctx,
  groupId: number,
  outcome: { readonly removed: number } | 'failed',
): Promise<void> {
  const path = await findGroupPath(ctx.db, groupId)
  const said =
    outcome === 'failed'
      ? 'could not be carried out; it is tried again at its next date.'
      : `was carried out. Files that were removed: ${outcome.removed}.`
  const mail = {
    subject: `${path} | Virtual registry cleanup ${outcome === 'failed' ? 'failed' : 'done'}`,
    text: `The cleanup policy of the virtual registries of ${path} ${said}\n`,
    key: `virtual-cleanup-${groupId}-${Date.parse(ctx.now())}`,
  }
  for (const userId of await listOwnerIds(ctx.db, groupId, dayOf(ctx.now()))) {
    await mailUser(ctx, userId, mail)
  }
}
