import { z } from 'zod'
import { task } from '../../background/task.ts'
import { dayOf, later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { listDueIssues } from './due-queries.ts'
import { notifyPeople } from './notification.ts'

const DAY_MS = 86_400_000

/** Every day: mails about the open issues that are due on the next. */
export const remindOfDueIssues = task({
  name: 'notifications.remind_of_due',
  payload: z.object({}),
  async handler(ctx: Ctx) {
    const tomorrow = dayOf(later(ctx.now(), DAY_MS))
    await inTransaction(ctx, async (ctx) => {
      for (const { id, project_id } of await listDueIssues(ctx.db, tomorrow)) {
        const subject = { project_id, type: 'Issue', id, author_id: null } as const
        await notifyPeople(ctx, { ...subject, event: 'issue_due' })
      }
    })
  },
})
