import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { userBasicColumns } from '../../identity/users/basic.ts'
import type { Work } from '../../store/schema/issues.ts'
import type { Db } from '../../store/schema.ts'

/** Assignees of many issues or merge requests, in the order in which they were assigned. */
export async function listAssignees(db: Db, type: Work, ids: readonly number[]) {
  if (ids.length === 0) return []
  return db
    .selectFrom('assignees')
    .innerJoin('users', 'users.id', 'assignees.user_id')
    .select(userBasicColumns)
    .select('assignees.subject_id')
    .where('assignees.subject_type', '=', type)
    .where('assignees.subject_id', 'in', ids)
    .orderBy('assignees.created_at')
    .orderBy('users.id')
    .execute()
}

export async function insertAssignees(
  db: Db,
  type: Work,
  subjectId: number,
  userIds: readonly number[],
  now: Instant,
): Promise<void> {
  if (userIds.length === 0) return
  const rows = userIds.map((id) => ({
    subject_type: type,
    subject_id: subjectId,
    user_id: id,
    created_at: now,
  }))
  await db
    .insertInto('assignees')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function deleteAssignees(
  db: Db,
  type: Work,
  subjectId: number,
  userIds: readonly number[],
): Promise<void> {
  if (userIds.length === 0) return
  await db
    .deleteFrom('assignees')
    .where('subject_type', '=', type)
    .where('subject_id', '=', subjectId)
    .where('user_id', 'in', userIds)
    .execute()
}

/** Takes a user off the issues and merge requests of a project, or of everything below a group. */
export async function deleteAssigneeBelow(
  db: Db,
  source: { readonly type: 'group' | 'project'; readonly id: number },
  userId: number,
): Promise<void> {
  const projects =
    source.type === 'project'
      ? sql`(SELECT ${source.id})`
      : sql`(SELECT p.id FROM projects p JOIN namespace_ancestors a ON a.namespace_id = p.namespace_id
          WHERE a.ancestor_id = ${source.id})`
  await db
    .deleteFrom('assignees')
    .where('user_id', '=', userId)
    .where(
      sql<boolean>`((subject_type = 'issue' AND subject_id IN
          (SELECT id FROM issues WHERE project_id IN ${projects}))
        OR (subject_type = 'merge_request' AND subject_id IN
          (SELECT id FROM merge_requests WHERE target_project_id IN ${projects})))`,
    )
    .execute()
}
