import { sql } from 'kysely'
import type { Day, Instant } from '../../base/clock.ts'
import { hasAbove, namespacesAbove } from '../../store/hierarchy.ts'
import type { Db } from '../../store/schema.ts'
import type { Notification } from './notification.ts'

/** An issue or merge request as mails describe it. */
export interface SubjectRow {
  readonly id: number
  readonly iid: number
  readonly title: string
  readonly description: string | null
  readonly author_id: number | null
  readonly confidential: 0 | 1
  readonly created_at: Instant
  readonly source_branch: string | null
  readonly target_branch: string | null
}

export async function findSubject(
  db: Db,
  type: Notification['type'],
  id: number,
): Promise<SubjectRow | undefined> {
  if (type === 'Issue') {
    return await db
      .selectFrom('issues')
      .select(['id', 'iid', 'title', 'description', 'author_id', 'confidential', 'created_at'])
      .select([
        sql<string | null>`NULL`.as('source_branch'),
        sql<string | null>`NULL`.as('target_branch'),
      ])
      .where('id', '=', id)
      .executeTakeFirst()
  }
  return await db
    .selectFrom('merge_requests')
    .select(['id', 'iid', 'title', 'description', 'author_id', 'created_at'])
    .select(['source_branch', 'target_branch'])
    .select(sql<0 | 1>`0`.as('confidential'))
    .where('id', '=', id)
    .executeTakeFirst()
}

export async function findNote(db: Db, id: number) {
  return await db
    .selectFrom('notes')
    .select(['id', 'body', 'internal', 'noteable_type', 'noteable_id', 'author_id'])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** How people stand to a subject; one may be there several times. */
export interface Stake {
  readonly user_id: number
  readonly how:
    | 'author'
    | 'assignee'
    | 'reviewer'
    | 'writer'
    | 'mentioned'
    | 'subscribed'
    | 'unsubscribed'
}

export async function listStakes(
  db: Db,
  type: Notification['type'],
  id: number,
): Promise<readonly Stake[]> {
  const word = type === 'Issue' ? 'issue' : 'merge_request'
  const { rows } = await sql<Stake>`
    SELECT user_id, 'assignee' AS how FROM assignees WHERE subject_type = ${word} AND subject_id = ${id}
    UNION ALL SELECT user_id, 'reviewer' FROM merge_request_reviewers
      WHERE ${word} = 'merge_request' AND merge_request_id = ${id}
    UNION ALL SELECT DISTINCT author_id, 'writer' FROM notes
      WHERE noteable_type = ${type} AND noteable_id = ${id} AND system = 0 AND author_id IS NOT NULL
    UNION ALL SELECT user_id, 'mentioned' FROM mentions WHERE subject_type = ${type} AND subject_id = ${id}
    UNION ALL SELECT user_id, CASE subscribed WHEN 1 THEN 'subscribed' ELSE 'unsubscribed' END
      FROM subscriptions WHERE subject_type = ${word} AND subject_id = ${id}
    UNION ALL SELECT s.user_id, 'subscribed' FROM label_links l
      JOIN subscriptions s ON s.subject_type = 'label' AND s.subject_id = l.label_id AND s.subscribed = 1
      WHERE l.subject_type = ${word} AND l.subject_id = ${id}`.execute(db)
  return rows
}

/** People who follow more than what they take part in, here or above: by `watch` or by chosen events. */
export async function listFollowerIds(
  db: Db,
  place: { readonly projectId: number; readonly namespaceId: number },
  today: Day,
): Promise<number[]> {
  const { rows } = await sql<{ user_id: number }>`
    SELECT DISTINCT s.user_id FROM notification_settings s
    WHERE s.level IN ('watch', 'custom') AND (
      (s.source_type = 'project' AND s.source_id = ${place.projectId})
      OR (s.source_type = 'group' AND s.source_id IN ${namespacesAbove(place.namespaceId)})
      OR (s.source_type = 'instance' AND (
        EXISTS (SELECT 1 FROM members m WHERE m.user_id = s.user_id AND m.requested_at IS NULL
          AND m.state = 'active' AND (m.expires_at IS NULL OR m.expires_at > ${today})
          AND ((m.source_type = 'project' AND m.source_id = ${place.projectId})
            OR (m.source_type = 'group' AND m.source_id IN ${namespacesAbove(place.namespaceId)})))
        OR EXISTS (SELECT 1 FROM namespaces n WHERE n.id = ${place.namespaceId}
          AND n.kind = 'user' AND n.owner_id = s.user_id))))`.execute(db)
  return rows.map((row) => row.user_id)
}

/** Whether a group above switches mails off. */
export function isMailOff(db: Db, namespaceId: number): Promise<boolean> {
  return hasAbove(db, namespaceId, sql`json_extract(n.settings, '$.emails_enabled') = 0`)
}

/** The people among these who can get mail: active persons. */
export async function listReachable(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return await db
    .selectFrom('users')
    .select(['id', 'name', 'username', 'email'])
    .where('id', 'in', ids)
    .where('state', '=', 'active')
    .where('kind', '=', 'human')
    .execute()
}

export async function insertSent(
  db: Db,
  row: {
    readonly digest: Buffer
    readonly user_id: number
    readonly subject_type: 'issue' | 'merge_request'
    readonly subject_id: number
    readonly created_at: Instant
  },
): Promise<void> {
  await db.insertInto('sent_notifications').values(row).execute()
}

/** How many mails about issues and merge requests of a project somebody was sent since a moment. */
export async function countSent(
  db: Db,
  userId: number,
  projectId: number,
  since: Instant,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM sent_notifications
    WHERE user_id = ${userId} AND created_at > ${since} AND CASE subject_type
      WHEN 'issue' THEN EXISTS (SELECT 1 FROM issues WHERE id = subject_id AND project_id = ${projectId})
      ELSE EXISTS (SELECT 1 FROM merge_requests
        WHERE id = subject_id AND target_project_id = ${projectId}) END`.execute(db)
  return rows[0]?.count ?? 0
}

export async function findSent(db: Db, digest: Buffer) {
  return await db
    .selectFrom('sent_notifications')
    .select(['user_id', 'subject_type', 'subject_id'])
    .where('digest', '=', digest)
    .executeTakeFirst()
}

/** Deletes the links of mails from before a moment, so many at most; says whether there may be more. */
export async function deleteOldSent(db: Db, before: Instant, most: number): Promise<boolean> {
  const old = db
    .selectFrom('sent_notifications')
    .select('id')
    .where('created_at', '<', before)
    .limit(most)
  const deleted = await db
    .deleteFrom('sent_notifications')
    .where('id', 'in', old)
    .executeTakeFirst()
  return deleted.numDeletedRows === BigInt(most)
}

export async function deleteOldWarnings(db: Db, before: Instant): Promise<void> {
  await db.deleteFrom('expiry_warnings').where('sent_at', '<', before).execute()
}
