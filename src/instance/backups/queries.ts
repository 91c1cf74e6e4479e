import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type BackupRow = RowOf<'backups'>

/** Newest first. */
export function backupsQuery(db: Db) {
  return db.selectFrom('backups').selectAll().orderBy('id', 'desc')
}

/** Notes what became of a backup, and forgets those of long ago. */
export async function insertBackup(db: Db, row: NewRowOf<'backups'>, kept: number): Promise<void> {
  const { id } = await db
    .insertInto('backups')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .deleteFrom('backups')
    .where('id', '<=', id - kept)
    .execute()
}

export function findLastBackup(db: Db): Promise<BackupRow | undefined> {
  return backupsQuery(db).limit(1).executeTakeFirst()
}

/** The last backup that can be restored, be it of data that was damaged in part. */
export function findLastMadeBackup(db: Db): Promise<BackupRow | undefined> {
  return backupsQuery(db).where('state', '<>', 'failed').limit(1).executeTakeFirst()
}

/** Whom the result of a backup concerns. */
export async function listAdministrators(db: Db): Promise<number[]> {
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where('admin', '=', 1)
    .where('state', '=', 'active')
    .where('kind', '=', 'human')
    .execute()
  return rows.map(({ id }) => id)
}
