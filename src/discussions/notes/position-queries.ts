import type { Db } from '../../store/schema.ts'

/** Comments of a merge request that stand at a place in its diff. */
export function listPlacedRows(db: Db, mergeRequestId: number) {
  return db
    .selectFrom('notes')
    .select(['id', 'discussion_id', 'position'])
    .where('noteable_type', '=', 'MergeRequest')
    .where('noteable_id', '=', mergeRequestId)
    .where('type', '=', 'DiffNote')
    .where('position', 'is not', null)
    .orderBy('id')
    .execute()
}
