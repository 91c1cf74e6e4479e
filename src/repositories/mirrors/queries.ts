import type { OffsetPage } from '../../base/page.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type RemoteMirrorRow = RowOf<'remote_mirrors'>

export function listRemoteMirrors(db: Db, projectId: number, page: OffsetPage) {
  return listPage(
    db,
    db.selectFrom('remote_mirrors').selectAll().where('project_id', '=', projectId).orderBy('id'),
    page,
  )
}

export function findRemoteMirror(db: Db, id: number): Promise<RemoteMirrorRow | undefined> {
  return db.selectFrom('remote_mirrors').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Where the project is pushed to; every push to the project asks. */
export function listEnabledMirrors(db: Db, projectId: number): Promise<readonly { id: number }[]> {
  return cachedQuery(db, `remote mirrors of ${projectId}`, (db) =>
    db
      .selectFrom('remote_mirrors')
      .select('id')
      .where('project_id', '=', projectId)
      .where('enabled', '=', 1)
      .execute(),
  )
}

export async function countRemoteMirrors(db: Db, projectId: number): Promise<number> {
  const { total } = await db
    .selectFrom('remote_mirrors')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  return total
}

export function insertRemoteMirror(
  db: Db,
  values: NewRowOf<'remote_mirrors'>,
): Promise<RemoteMirrorRow> {
  return db.insertInto('remote_mirrors').values(values).returningAll().executeTakeFirstOrThrow()
}

/** Undefined when it was removed meanwhile. */
export function updateRemoteMirror(
  db: Db,
  id: number,
  changes: ChangesOf<'remote_mirrors'>,
): Promise<RemoteMirrorRow | undefined> {
  return db
    .updateTable('remote_mirrors')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

export async function deleteRemoteMirror(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('remote_mirrors').where('id', '=', id))
}
