import { z } from 'zod'
import { deleteOldOauthTokens } from '../../access/authentication/oauth-token-queries.ts'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { removeOldSessions } from '../sign-in/session.ts'
import { removeOldChallenges } from '../two-factor/keys/challenge.ts'
import { deleteExpired } from './queries.ts'

const MONTH_MS = 30 * 86_400_000

/** Removes sessions, codes and tokens that nobody can use any more. */
export const removeExpiredSignIns = task({
  name: 'oauth.remove_expired',
  payload: z.object({}),
  async handler(ctx: Ctx) {
    const now = ctx.now()
    await inTransaction(ctx, async (inner) => {
      await removeOldSessions(inner)
      await removeOldChallenges(inner)
      const before = { now, monthAgo: later(now, -MONTH_MS) }
      await deleteOldOauthTokens(inner.db, before)
      await deleteExpired(inner.db, before)
    })
  },
})
