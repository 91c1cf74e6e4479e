import type { Day } from '../../../base/clock.ts'
import type { Db } from '../../../store/schema.ts'

/** Tokens of projects and groups that end on a day. */
export function listExpiringOn(db: Db, day: Day) {
  return db
    .selectFrom('access_tokens')
    .select(['id', 'user_id', 'name', 'source_type', 'source_id', 'created_at', 'expires_at'])
    .where('kind', 'in', ['project', 'group'])
    .where('revoked', '=', 0)
    .where('expires_at', '=', day)
    .orderBy('id')
    .execute()
}
