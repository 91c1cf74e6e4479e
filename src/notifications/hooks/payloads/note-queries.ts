import type { Noteable } from '../../../discussions/notes/noteable.ts'
import type { Db } from '../../../store/schema.ts'

/** What a payload shows of the thing that was commented on, as it stands in its table. */
export async function findNoteableRow(
  db: Db,
  noteable: Pick<Noteable, 'type' | 'id'>,
): Promise<Record<string, unknown> | undefined> {
  const { id } = noteable
  if (id === null) return undefined
  if (noteable.type === 'Issue') {
    return await db
      .selectFrom('issues')
      .select(['id', 'iid', 'title', 'description', 'state', 'author_id', 'project_id'])
      .select(['milestone_id', 'confidential', 'due_date', 'created_at', 'updated_at'])
      .where('id', '=', id)
      .executeTakeFirst()
  }
  if (noteable.type !== 'MergeRequest') return undefined
  return await db
    .selectFrom('merge_requests')
    .select(['id', 'iid', 'title', 'description', 'state', 'author_id', 'source_project_id'])
    .select(['target_project_id', 'source_branch', 'target_branch', 'merge_status', 'milestone_id'])
    .select(['merge_commit_sha', 'head_sha', 'draft', 'created_at', 'updated_at'])
    .where('id', '=', id)
    .executeTakeFirst()
}

export function findNewestNote(db: Db, projectId: number) {
  return db
    .selectFrom('notes')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('system', '=', 0)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}
