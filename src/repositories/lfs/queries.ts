import { sql } from 'kysely'
import { projectAbilities } from '../../access/abilities.ts'
import { seesFeature, type Viewer } from '../../access/visible-queries.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

/** Every project of the same fork network, the project itself included. */
function networkOf(projectId: number) {
  return sql<number>`(
    WITH RECURSIVE above(id, parent_id, depth) AS (
      SELECT id, forked_from_id, 0 FROM projects WHERE id = ${projectId}
      UNION ALL
      SELECT p.id, p.forked_from_id, above.depth + 1 FROM projects p
      JOIN above ON p.id = above.parent_id WHERE above.depth < 1000
    ),
    network(id) AS (
      SELECT id FROM (SELECT id FROM above ORDER BY depth DESC LIMIT 1)
      UNION
      SELECT p.id FROM projects p JOIN network ON p.forked_from_id = network.id
    )
    SELECT id FROM network)`
}

export interface LfsObjectRow {
  readonly oid: string
  readonly size: number
}

/** Texts as the values of a condition: SQLite binds at most 32,766 in one statement. */
function among(texts: readonly string[]) {
  return sql<string>`(SELECT value FROM json_each(${JSON.stringify(texts)}))`
}

/** Those of the objects that the project itself has. */
export function listOwnLfsObjects(
  db: Db,
  projectId: number,
  oids: readonly string[],
): Promise<LfsObjectRow[]> {
  return db
    .selectFrom('lfs_objects')
    .select(['oid', 'size'])
    .where('project_id', '=', projectId)
    .where('oid', 'in', among(oids))
    .execute()
}

/** All objects that the project itself has. */
export function listAllLfsObjects(db: Db, projectId: number): Promise<LfsObjectRow[]> {
  return db
    .selectFrom('lfs_objects')
    .select(['oid', 'size'])
    .where('project_id', '=', projectId)
    .orderBy('oid')
    .execute()
}

/** Objects of the other projects of the fork network whose code the viewer may download. */
function networkObjects(db: Db, projectId: number, viewer: Viewer) {
  return db
    .selectFrom('lfs_objects')
    .innerJoin('projects', 'projects.id', 'lfs_objects.project_id')
    .where('lfs_objects.project_id', '<>', projectId)
    .where('lfs_objects.project_id', 'in', networkOf(projectId))
    .where('projects.pending_delete', '=', 0)
    .where(seesFeature(viewer, 'repository', projectAbilities.download_code.role))
}

/** Those of the objects that the viewer may read elsewhere in the fork network. */
export function listNetworkLfsObjects(
  db: Db,
  projectId: number,
  viewer: Viewer,
  oids: readonly string[],
): Promise<LfsObjectRow[]> {
  return networkObjects(db, projectId, viewer)
    .select(['lfs_objects.oid', 'lfs_objects.size'])
    .distinct()
    .where('lfs_objects.oid', 'in', among(oids))
    .execute()
}

/** The ids of all objects that the viewer may read in the project or elsewhere in the fork network. */
export async function listLfsOids(db: Db, projectId: number, viewer: Viewer): Promise<string[]> {
  const rows = await db
    .selectFrom('lfs_objects')
    .select('oid')
    .where('project_id', '=', projectId)
    .union(networkObjects(db, projectId, viewer).select('lfs_objects.oid'))
    .execute()
  return rows.map(({ oid }) => oid)
}

/** Whether a project has objects that another lacks. */
export async function hasLfsObjectsBeyond(db: Db, fromId: number, toId: number): Promise<boolean> {
  const row = await db
    .selectFrom('lfs_objects')
    .select('oid')
    .where('project_id', '=', fromId)
    .where('oid', 'not in', (is) =>
      is.selectFrom('lfs_objects').select('oid').where('project_id', '=', toId),
    )
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function insertLfsObjects(
  db: Db,
  projectId: number,
  objects: readonly LfsObjectRow[],
  now: Instant,
): Promise<void> {
  await sql`
    INSERT INTO lfs_objects (project_id, oid, size, created_at)
    SELECT ${projectId}, value ->> 'oid', value ->> 'size', ${now}
    FROM json_each(${JSON.stringify(objects)}) WHERE true
    ON CONFLICT DO NOTHING`.execute(db)
}

/** Gives a fork the objects of its parent, so that it keeps them when the two are parted. */
export async function copyLfsObjects(
  db: Db,
  fromId: number,
  toId: number,
  now: Instant,
): Promise<void> {
  await db
    .insertInto('lfs_objects')
    .columns(['project_id', 'oid', 'size', 'created_at'])
    .expression(
      db
        .selectFrom('lfs_objects')
        .select([sql<number>`${toId}`.as('to_id'), 'oid', 'size', sql<string>`${now}`.as('now')])
        .where('project_id', '=', fromId),
    )
    .onConflict((on) => on.doNothing())
    .execute()
}

export type LfsLockRow = RowOf<'lfs_locks'> & { readonly username: string }

function locks(db: Db, projectId: number) {
  return db
    .selectFrom('lfs_locks')
    .innerJoin('users', 'users.id', 'lfs_locks.user_id')
    .selectAll('lfs_locks')
    .select('users.username')
    .where('lfs_locks.project_id', '=', projectId)
}

export function findLfsLock(
  db: Db,
  projectId: number,
  by: { readonly id: number } | { readonly path: string },
): Promise<LfsLockRow | undefined> {
  const query = locks(db, projectId)
  return 'id' in by
    ? query.where('lfs_locks.id', '=', by.id).executeTakeFirst()
    : query.where('lfs_locks.path', '=', by.path).executeTakeFirst()
}

/** Locks in the order of their ids, from one of them on. */
export function listLfsLocks(
  db: Db,
  projectId: number,
  page: {
    readonly from: number
    readonly limit: number
    readonly path?: string | undefined
    readonly id?: number | undefined
  },
): Promise<LfsLockRow[]> {
  let query = locks(db, projectId).where('lfs_locks.id', '>=', page.from)
  if (page.path !== undefined) query = query.where('lfs_locks.path', '=', page.path)
  if (page.id !== undefined) query = query.where('lfs_locks.id', '=', page.id)
  return query.orderBy('lfs_locks.id').limit(page.limit).execute()
}

/** Whether somebody but this user holds a lock. */
export async function hasForeignLock(db: Db, projectId: number, userId: number): Promise<boolean> {
  const row = await db
    .selectFrom('lfs_locks')
    .select('id')
    .where('project_id', '=', projectId)
    .where('user_id', '<>', userId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The first of these paths that somebody but this user has locked. */
export function findForeignLock(
  db: Db,
  projectId: number,
  userId: number,
  paths: readonly string[],
): Promise<LfsLockRow | undefined> {
  return locks(db, projectId)
    .where('lfs_locks.user_id', '<>', userId)
    .where('lfs_locks.path', 'in', among(paths))
    .orderBy('lfs_locks.id')
    .executeTakeFirst()
}

export async function insertLfsLock(db: Db, row: NewRowOf<'lfs_locks'>): Promise<void> {
  await db.insertInto('lfs_locks').values(row).execute()
}

export async function deleteLfsLock(db: Db, id: number): Promise<void> {
  await db.deleteFrom('lfs_locks').where('id', '=', id).execute()
}
