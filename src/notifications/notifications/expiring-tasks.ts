import { z } from 'zod'
import { task } from '../../background/task.ts'
import { type Day, dayOf, later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { mailUser, type PlainMail } from '../../identity/mail/mail-user.ts'
import { inTransaction } from '../../store/transaction.ts'
import { listEndingMembers, listEndingTokens, noteWarned } from './expiring-queries.ts'

/** How long before the end of a token or membership its holder is warned. */
const AHEAD_MS = 7 * 86_400_000

/** Every day: warns of tokens and memberships that end within a week, of each end once. */
export const warnOfExpiry = task({
  name: 'notifications.warn_of_expiry',
  payload: z.object({}),
  async handler(ctx: Ctx) {
    const from = dayOf(ctx.now())
    const until = dayOf(later(ctx.now(), AHEAD_MS))
    for (const row of await listEndingTokens(ctx.db, from, until)) {
      await warnOnce(ctx, 'token', row, {
        subject: `Your access token ${row.name} ends on ${row.expires_at}`,
        text: `The ${row.kind} access token "${row.name}" ends on ${row.expires_at}. What uses it stops working then.\n\nRotate it, or make another: ${ctx.config.externalUrl}/-/user_settings/personal_access_tokens\n`,
        key: `token-ends-${row.id}-${row.expires_at}`,
      })
    }
    for (const row of await listEndingMembers(ctx.db, from, until)) {
      await warnOnce(ctx, 'member', row, {
        subject: `Your membership of ${row.full_path} ends on ${row.expires_at}`,
        text: `Your membership of the ${row.source_type} ${row.full_path} ends on ${row.expires_at}. Its owners can make it last longer.\n\n${ctx.config.externalUrl}/${row.full_path}\n`,
        key: `membership-ends-${row.id}-${row.expires_at}`,
      })
    }
  },
})

interface Ending {
  readonly id: number
  readonly user_id: number
  readonly expires_at: Day
}

/** A transaction for each, so that others get their turn to write. */
function warnOnce(ctx: Ctx, kind: 'token' | 'member', row: Ending, mail: PlainMail): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    if (!(await noteWarned(ctx.db, kind, row.id, row.expires_at, ctx.now()))) return
    await mailUser(ctx, row.user_id, mail)
  })
}
