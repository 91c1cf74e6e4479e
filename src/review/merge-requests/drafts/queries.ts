import type { ChangesOf, Db, NewRowOf, RowOf } from '../../../store/schema.ts'

export type DraftRow = RowOf<'draft_notes'>

/** A user's own drafts on a merge request, oldest first: nobody sees those of others. */
export function listDrafts(db: Db, mergeRequestId: number, authorId: number): Promise<DraftRow[]> {
  return db
    .selectFrom('draft_notes')
    .selectAll()
    .where('merge_request_id', '=', mergeRequestId)
    .where('author_id', '=', authorId)
    .orderBy('id')
    .execute()
}

export function insertDraft(db: Db, draft: NewRowOf<'draft_notes'>): Promise<DraftRow> {
  return db.insertInto('draft_notes').values(draft).returningAll().executeTakeFirstOrThrow()
}

export function updateDraft(
  db: Db,
  id: number,
  changes: ChangesOf<'draft_notes'>,
): Promise<DraftRow> {
  return db
    .updateTable('draft_notes')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** False when it was gone already. */
export async function deleteDraft(db: Db, id: number): Promise<boolean> {
  const result = await db.deleteFrom('draft_notes').where('id', '=', id).executeTakeFirst()
  return result.numDeletedRows > 0n
}
