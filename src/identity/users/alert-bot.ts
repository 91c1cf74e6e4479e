import type { Ctx } from '../../ctx.ts'
import { brokenKey } from '../../store/unique.ts'
import { findUserByAddress, insertUser, type UserRow } from './queries.ts'

/** The address by which the bot is known, whatever it is called. */
export function alertBotAddress(ctx: Pick<Ctx, 'config'>): string {
  return `alert-bot@noreply.${new URL(ctx.config.externalUrl).hostname}`
}

/** The user in whose name incidents are opened and closed; made when the first alert asks for it. */
export async function getAlertBot(ctx: Ctx): Promise<UserRow> {
  const email = alertBotAddress(ctx)
  const known = await findUserByAddress(ctx.db, email)
  if (known) return known
  const now = ctx.now()
  for (let number = 0; ; number++) {
    const username = number === 0 ? 'alert-bot' : `alert-bot${number}`
    try {
      return await insertUser(ctx.db, {
        username,
        name: 'Alert Bot',
        email,
        kind: 'service_account',
        projects_limit: 0,
        can_create_group: 0,
        confirmed_at: now,
        created_at: now,
        updated_at: now,
      })
    } catch (error) {
      // Somebody has the name: the next one is tried.
      if (brokenKey(error) !== 'users.username') throw error
    }
  }
}
