import { sql } from 'kysely'
import type { Day, Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/** Tokens that end in these days, with who is to be notified: their person, or who made the token of a bot. */
export async function listEndingTokens(db: Db, from: Day, until: Day) {
  const { rows } = await sql<{
    id: number
    name: string
    kind: string
    expires_at: string
    user_id: number
  }>`
    SELECT t.id, t.name, t.kind, t.expires_at,
      CASE WHEN u.kind = 'human' THEN u.id ELSE t.created_by_id END AS user_id
    FROM access_tokens t JOIN users u ON u.id = t.user_id
    WHERE t.revoked = 0 AND t.expires_at > ${from} AND t.expires_at <= ${until}
      AND t.kind <> 'impersonation' AND u.state = 'active'
      AND (u.kind = 'human' OR t.created_by_id IS NOT NULL)
    ORDER BY t.id`.execute(db)
  return rows
}

/** Memberships of persons that end in these days. */
export async function listEndingMembers(db: Db, from: Day, until: Day) {
  const { rows } = await sql<{
    id: number
    user_id: number
    source_type: string
    expires_at: string
    full_path: string
  }>`
    SELECT m.id, m.user_id, m.source_type, m.expires_at, coalesce(p.full_path, n.full_path) AS full_path
    FROM members m JOIN users u ON u.id = m.user_id AND u.kind = 'human' AND u.state = 'active'
      LEFT JOIN projects p ON m.source_type = 'project' AND p.id = m.source_id
      LEFT JOIN namespaces n ON m.source_type = 'group' AND n.id = m.source_id
    WHERE m.expires_at > ${from} AND m.expires_at <= ${until} AND m.requested_at IS NULL
      AND coalesce(p.full_path, n.full_path) IS NOT NULL
    ORDER BY m.id`.execute(db)
  return rows
}

/** Whether this is the first warning of that end. */
export async function noteWarned(
  db: Db,
  kind: 'token' | 'member',
  id: number,
  end: Day,
  now: Instant,
): Promise<boolean> {
  const result = await db
    .insertInto('expiry_warnings')
    .values({ kind, subject_id: id, expires_at: end, sent_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return Number(result.numInsertedOrUpdatedRows ?? 0) > 0
}
