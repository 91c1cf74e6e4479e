import type { Source } from '../../access/sources.ts'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import type { LevelChanges } from '../../repositories/protections/levels.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import type { EnvironmentLevelRow, EnvironmentTarget, Kind } from './levels.ts'

function keyOf(owner: Source) {
  return owner.type === 'project' ? 'project_id' : 'group_id'
}

function environmentsOf(db: Db, owner: Source) {
  return db.selectFrom('protected_environments').selectAll().where(keyOf(owner), '=', owner.id)
}

export type EnvironmentRow = NonNullable<Awaited<ReturnType<typeof findEnvironmentRow>>>

export function listEnvironmentRows(db: Db, owner: Source, page: OffsetPage) {
  return listPage(db, environmentsOf(db, owner).orderBy('name'), page)
}

export function findEnvironmentRow(db: Db, owner: Source, name: string) {
  return environmentsOf(db, owner).where('name', '=', name).executeTakeFirst()
}

export function listEnvironmentLevels(
  db: Db,
  environmentIds: readonly number[],
): Promise<EnvironmentLevelRow[]> {
  if (environmentIds.length === 0) return Promise.resolve([])
  return db
    .selectFrom('protected_environment_levels as level')
    .leftJoin('users', 'users.id', 'level.user_id')
    .leftJoin('namespaces', 'namespaces.id', 'level.group_id')
    .selectAll('level')
    .select(['users.name as user_name', 'namespaces.name as group_name'])
    .where('level.protected_environment_id', 'in', environmentIds)
    .orderBy('level.id')
    .execute()
}

export async function insertEnvironment(
  db: Db,
  owner: Source,
  given: { readonly name: string; readonly required_approval_count: number },
  now: Instant,
): Promise<number> {
  const { id } = await db
    .insertInto('protected_environments')
    .values({ [keyOf(owner)]: owner.id, ...given, created_at: now, updated_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function updateEnvironment(
  db: Db,
  id: number,
  approvalCount: number | undefined,
  now: Instant,
): Promise<void> {
  await db
    .updateTable('protected_environments')
    .set({ required_approval_count: approvalCount, updated_at: now })
    .where('id', '=', id)
    .execute()
}

export async function deleteEnvironment(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('protected_environments').where('id', '=', id))
}

export async function changeEnvironmentLevels(
  db: Db,
  environmentId: number,
  kind: Kind,
  changes: LevelChanges<EnvironmentTarget>,
): Promise<void> {
  if (changes.remove.length > 0) {
    await db.deleteFrom('protected_environment_levels').where('id', 'in', changes.remove).execute()
  }
  for (const { id, target } of changes.change) {
    await db
      .updateTable('protected_environment_levels')
      .set({ ...target })
      .where('id', '=', id)
      .execute()
  }
  for (const target of changes.add) {
    await db
      .insertInto('protected_environment_levels')
      .values({ protected_environment_id: environmentId, kind, ...target })
      .execute()
  }
}
