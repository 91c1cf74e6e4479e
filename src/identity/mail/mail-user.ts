import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'

/** A mail to one person that belongs to no thread. */
export const plainMail = {
  name: 'notifications.send_plain',
  payload: z.object({
    user_id: z.int(),
    email: z.string().nullable(),
    subject: z.string(),
    text: z.string(),
    key: z.string(),
  }),
}

export interface PlainMail {
  readonly subject: string
  readonly text: string
  /** What makes this mail one: no person gets two of the same key. */
  readonly key: string
}

/** Lets a mail be sent to somebody, in the transaction that makes it true. */
export async function mailUser(
  ctx: Pick<Ctx, 'db' | 'work'>,
  userId: number,
  mail: PlainMail,
  email: string | null = null,
): Promise<void> {
  const { subject, text } = mail
  const payload = { user_id: userId, email, subject, text, key: `${mail.key}-${userId}` }
  await ctx.work.enqueue(ctx.db, plainMail, payload)
}
