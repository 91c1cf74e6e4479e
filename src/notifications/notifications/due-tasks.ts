import { z } from 'zod'
import { task } from '../../background/task.ts'
import { dayOf, later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { listDueIssues } from './due-queries.ts'
import { notifyPeople } from './notification.ts'

const DAY_MS = 86_400_000
/** Others wait for their turn to write while one batch is gone through. */
const BATCH = 100

/** Every day: mails about the open issues that are due on the next, batch after batch. */
export const remindOfDueIssues = task({
  name: 'notifications.remind_of_due',
  /** Without `rest` from the first issue on. */
  payload: z.object({ rest: z.object({ day: z.string(), afterId: z.int() }).optional() }),
  async handler(ctx: Ctx, { rest }) {
    const day = rest?.day ?? dayOf(later(ctx.now(), DAY_MS))
    await inTransaction(ctx, async (ctx) => {
      const issues = await listDueIssues(ctx.db, day, rest?.afterId ?? 0, BATCH)
      for (const { id, project_id } of issues) {
        const subject = { project_id, type: 'Issue', id, author_id: null } as const
        await notifyPeople(ctx, { ...subject, event: 'issue_due' })
      }
      const last = issues[BATCH - 1]
      if (!last) return
      const next = { rest: { day, afterId: last.id } }
      await ctx.work.enqueue(ctx.db, remindOfDueIssues, next)
    })
  },
})
