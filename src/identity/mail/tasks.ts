import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { deliver } from './deliver.ts'
import { plainMail } from './mail-user.ts'
import { findReachable } from './queries.ts'

export const sendPlainMail = task({
  ...plainMail,
  lane: 'outbound',
  timeout: 120_000,
  async handler(ctx: Ctx, { user_id, email, subject, text, key }) {
    const person = await findReachable(ctx.db, user_id)
    if (person) await deliver(ctx, { to: email ?? person.email, subject, text, key })
  },
})
