import { sql } from 'kysely'
import type { Db } from '../../../store/schema.ts'

/** Notes which users committed to the newest version, by the addresses in the commits. */
export async function saveCommitters(
  db: Db,
  mergeRequestId: number,
  emails: readonly string[],
): Promise<void> {
  await db
    .deleteFrom('merge_request_committers')
    .where('merge_request_id', '=', mergeRequestId)
    .execute()
  const wanted = JSON.stringify([...new Set(emails.map((email) => email.toLowerCase()))])
  await sql`INSERT OR IGNORE INTO merge_request_committers (merge_request_id, user_id)
    SELECT ${mergeRequestId}, id FROM users WHERE lower(email) IN (SELECT value FROM json_each(${wanted}))
      OR lower(commit_email) IN (SELECT value FROM json_each(${wanted}))
    UNION SELECT ${mergeRequestId}, user_id FROM emails WHERE confirmed_at IS NOT NULL
      AND lower(email) IN (SELECT value FROM json_each(${wanted}))`.execute(db)
}

/** Notes which commits the newest version has. */
export async function saveCommits(
  db: Db,
  mergeRequestId: number,
  ids: readonly string[],
): Promise<void> {
  await db
    .deleteFrom('merge_request_commits')
    .where('merge_request_id', '=', mergeRequestId)
    .execute()
  if (ids.length === 0) return
  await db
    .insertInto('merge_request_commits')
    .values(ids.map((sha) => ({ sha, merge_request_id: mergeRequestId })))
    .execute()
}
