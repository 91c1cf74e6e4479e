import type { Db, NewRowOf, RowOf } from '../../../store/schema.ts'

export type ViewedRow = RowOf<'viewed_files'>

/** The files of a merge request that somebody has looked at, by their paths. */
export function listViewed(db: Db, mergeRequestId: number, userId: number): Promise<ViewedRow[]> {
  return db
    .selectFrom('viewed_files')
    .selectAll()
    .where('merge_request_id', '=', mergeRequestId)
    .where('user_id', '=', userId)
    .orderBy('path')
    .execute()
}

/** Notes that somebody has looked at a file; what was noted of it before goes. */
export function saveViewed(db: Db, row: NewRowOf<'viewed_files'>): Promise<ViewedRow> {
  const { version_id, blob_id, viewed_at } = row
  return db
    .insertInto('viewed_files')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['merge_request_id', 'user_id', 'path'])
        .doUpdateSet({ version_id, blob_id, viewed_at }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** False when there was no such mark. */
export async function deleteViewed(
  db: Db,
  at: { readonly mergeRequestId: number; readonly userId: number; readonly path: string },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('viewed_files')
    .where('merge_request_id', '=', at.mergeRequestId)
    .where('user_id', '=', at.userId)
    .where('path', '=', at.path)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
