import type { Day } from '../../../base/clock.ts'
import type { Db } from '../../../store/schema.ts'

function livingTokens(db: Db) {
  return db
    .selectFrom('access_tokens')
    .select(['id', 'user_id', 'name', 'source_type', 'source_id', 'created_at', 'expires_at'])
    .where('kind', 'in', ['project', 'group'])
    .where('revoked', '=', 0)
}

/** Tokens of projects and groups that end on a day. */
export function listExpiringOn(db: Db, day: Day) {
  return livingTokens(db).where('expires_at', '=', day).orderBy('id').execute()
}

/** The newest token of a project, for trying a hook out. */
export function findNewestToken(db: Db, projectId: number) {
  return livingTokens(db)
    .where('source_type', '=', 'project')
    .where('source_id', '=', projectId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}
