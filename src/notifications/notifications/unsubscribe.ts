import { digestOf } from '../../access/token-use.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { unsubscribeUser } from '../../discussions/subscriptions/subscribe.ts'
import { findSent } from './queries.ts'

/** What the mail with this secret in its link was about. */
export async function getSent(ctx: Pick<Ctx, 'db'>, key: string) {
  const sent = await findSent(ctx.db, digestOf(key))
  if (!sent) throw new Problem('gone', 410, { message: 'This link is unknown, or too old.' })
  return sent
}

/** Ends the mails about an issue or merge request, by the secret of one of them. */
export async function unsubscribeBySecret(ctx: Ctx, key: string): Promise<void> {
  const sent = await getSent(ctx, key)
  await unsubscribeUser(ctx, sent.subject_type, sent.subject_id, sent.user_id)
}
