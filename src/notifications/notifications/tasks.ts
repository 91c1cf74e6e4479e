import { z } from 'zod'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { collectFor } from './collect.ts'
import { collectRecipients, sendNotice } from './notification.ts'
import { deleteOldSent, deleteOldWarnings } from './queries.ts'
import { sendOne } from './send.ts'

export const collectNotices = task({
  ...collectRecipients,
  handler: (ctx: Ctx, notification) => inTransaction(ctx, (ctx) => collectFor(ctx, notification)),
})

export const sendNotification = task({
  ...sendNotice,
  lane: 'outbound',
  timeout: 120_000,
  handler: (ctx: Ctx, notice) => sendOne(ctx, notice),
})

const YEAR_MS = 365 * 86_400_000
/** Others wait for their turn to write while one batch is removed. */
const BATCH = 1000

/** Links of mails that are older than a year end nothing any more. */
export const forgetSent = task({
  name: 'notifications.forget_sent',
  payload: z.object({}),
  async handler(ctx: Ctx, _, signal) {
    const before = later(ctx.now(), -YEAR_MS)
    while (await deleteOldSent(ctx.db, before, BATCH)) signal.throwIfAborted()
    await deleteOldWarnings(ctx.db, before)
  },
})
