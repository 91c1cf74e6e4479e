import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { deleteFound } from '../../store/delete-found.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type SshKeyRow = RowOf<'ssh_keys'>

export function userKeysQuery(db: Db, userId: number) {
  return db.selectFrom('ssh_keys').selectAll().where('user_id', '=', userId).orderBy('id')
}

export function findUserKey(db: Db, userId: number, id: number): Promise<SshKeyRow | undefined> {
  return userKeysQuery(db, userId).where('id', '=', id).executeTakeFirst()
}

export function findKeyById(db: Db, id: number): Promise<SshKeyRow | undefined> {
  return db.selectFrom('ssh_keys').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findKeyByFingerprint(
  db: Db,
  column: 'fingerprint_sha256' | 'fingerprint_md5',
  fingerprint: string,
): Promise<SshKeyRow | undefined> {
  return db.selectFrom('ssh_keys').selectAll().where(column, '=', fingerprint).executeTakeFirst()
}

export function insertKey(db: Db, row: NewRowOf<'ssh_keys'>): Promise<SshKeyRow> {
  return db.insertInto('ssh_keys').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function updateKey(db: Db, id: number, changes: ChangesOf<'ssh_keys'>): Promise<void> {
  await db.updateTable('ssh_keys').set(changes).where('id', '=', id).execute()
}

export async function deleteKeyRow(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('ssh_keys').where('id', '=', id))
}

/** A deploy key as a project has it. */
export interface DeployKeyRow extends SshKeyRow {
  readonly can_push: 0 | 1
}

export function projectKeysQuery(db: Db, projectId: number) {
  return db
    .selectFrom('deploy_key_projects')
    .innerJoin('ssh_keys', 'ssh_keys.id', 'deploy_key_projects.key_id')
    .selectAll('ssh_keys')
    .select('deploy_key_projects.can_push')
    .where('deploy_key_projects.project_id', '=', projectId)
    .orderBy('ssh_keys.id')
}

export function findProjectKey(
  db: Db,
  projectId: number,
  keyId: number,
): Promise<DeployKeyRow | undefined> {
  return projectKeysQuery(db, projectId).where('ssh_keys.id', '=', keyId).executeTakeFirst()
}

export async function insertKeyProject(
  db: Db,
  row: Omit<NewRowOf<'deploy_key_projects'>, 'created_at' | 'updated_at'>,
  now: Instant,
): Promise<void> {
  await db
    .insertInto('deploy_key_projects')
    .values({ ...row, created_at: now, updated_at: now })
    .execute()
}

export async function updateKeyProject(
  db: Db,
  key: { readonly keyId: number; readonly projectId: number },
  canPush: boolean,
  now: Instant,
): Promise<void> {
  await db
    .updateTable('deploy_key_projects')
    .set({ can_push: canPush ? 1 : 0, updated_at: now })
    .where('key_id', '=', key.keyId)
    .where('project_id', '=', key.projectId)
    .execute()
}

export async function deleteKeyProject(db: Db, keyId: number, projectId: number): Promise<void> {
  await db
    .deleteFrom('deploy_key_projects')
    .where('key_id', '=', keyId)
    .where('project_id', '=', projectId)
    .execute()
}

export function listKeyProjects(db: Db, keyId: number) {
  return db
    .selectFrom('deploy_key_projects')
    .selectAll()
    .where('key_id', '=', keyId)
    .orderBy('id')
    .execute()
}

/** Every deploy key, or those that anybody may link. */
export function deployKeysQuery(db: Db, onlyPublic: boolean) {
  const query = db.selectFrom('ssh_keys').selectAll().where('deploy', '=', 1).orderBy('id')
  return onlyPublic ? query.where('public', '=', 1) : query
}

/** The projects of some keys, as lists of administrators show them. */
export function listProjectsOfKeys(db: Db, keyIds: readonly number[]) {
  return db
    .selectFrom('deploy_key_projects')
    .innerJoin('projects', 'projects.id', 'deploy_key_projects.project_id')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select([
      'deploy_key_projects.key_id',
      'deploy_key_projects.can_push',
      'projects.id',
      'projects.description',
      'projects.name',
      'projects.path',
      'projects.full_path',
      'projects.created_at',
      'namespaces.full_name as namespace_full_name',
    ])
    .where('deploy_key_projects.key_id', 'in', keyIds.length > 0 ? keyIds : [0])
    .orderBy('projects.id')
    .execute()
}

/** Deploy keys of projects in which the user is at least a maintainer. */
export function keysOfMaintainerQuery(db: Db, condition: RawBuilder<SqlBool>) {
  return db
    .selectFrom('ssh_keys')
    .selectAll('ssh_keys')
    .where('ssh_keys.deploy', '=', 1)
    .where(
      sql<boolean>`ssh_keys.id in (select l.key_id from deploy_key_projects l
        join projects on projects.id = l.project_id where ${condition})`,
    )
    .orderBy('ssh_keys.id')
}

export async function isKeyOfMaintainer(
  db: Db,
  keyId: number,
  condition: RawBuilder<SqlBool>,
): Promise<boolean> {
  const row = await keysOfMaintainerQuery(db, condition)
    .where('ssh_keys.id', '=', keyId)
    .executeTakeFirst()
  return row !== undefined
}
