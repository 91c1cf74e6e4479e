import type { Ctx } from '../../../ctx.ts'
import { brokenKey } from '../../../store/unique.ts'
import { findGhost, insertUser, type UserRow } from '../queries.ts'

/** The user who stands for those who were deleted; made when the first one is. */
export async function getGhost(ctx: Ctx): Promise<UserRow> {
  const known = await findGhost(ctx.db)
  if (known) return known
  const host = new URL(ctx.config.externalUrl).hostname
  const now = ctx.now()
  for (let number = 0; ; number++) {
    const username = number === 0 ? 'ghost' : `ghost${number}`
    const row = await tryInsert(ctx, username, `${username}@noreply.${host}`, now)
    if (row) return row
  }
}

async function tryInsert(ctx: Ctx, username: string, email: string, now: string) {
  try {
    return await insertUser(ctx.db, {
      username,
      name: 'Ghost User',
      email,
      kind: 'ghost',
      projects_limit: 0,
      can_create_group: 0,
      confirmed_at: now,
      created_at: now,
      updated_at: now,
    })
  } catch (error) {
    // Somebody has the name: the next one is tried, in the same transaction.
    if (brokenKey(error) === undefined) throw error
    return undefined
  }
}
