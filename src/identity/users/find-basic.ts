import type { Ctx } from '../../ctx.ts'
import { presentUserBasic, type UserBasic, type UserBasicRow } from './basic.ts'
import { listUsersBasic, listUsersByEmail } from './basic-queries.ts'

/** Users by id, ready for the wire, for showing them beside what they did; null ids are passed over. */
export async function usersById(
  ctx: Pick<Ctx, 'db' | 'config'>,
  ids: readonly (number | null)[],
): Promise<Map<number, UserBasic>> {
  const wanted = [...new Set(ids.filter((id) => id !== null))]
  if (wanted.length === 0) return new Map()
  const rows = await listUsersBasic(ctx.db, wanted)
  return new Map(rows.map((row) => [row.id, presentUserBasic(ctx, row)]))
}

/** The users who own confirmed mail addresses, by lower-case address. */
export async function usersByEmail(
  ctx: Pick<Ctx, 'db'>,
  emails: readonly string[],
): Promise<Map<string, UserBasicRow>> {
  const wanted = [...new Set(emails.map((email) => email.toLowerCase()).filter(Boolean))]
  const found = new Map<string, UserBasicRow>()
  // SQLite binds at most 32,766 values in one statement.
  for (let at = 0; at < wanted.length; at += 5000) {
    const rows = await listUsersByEmail(ctx.db, wanted.slice(at, at + 5000))
    for (const row of rows) found.set(row.owned.toLowerCase(), row)
  }
  return found
}
