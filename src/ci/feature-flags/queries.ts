import { sql } from 'kysely'
import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'
import { containing } from '../../store/search.ts'

export type FlagRow = RowOf<'feature_flags'>
export type StrategyRow = RowOf<'feature_flag_strategies'>
export type ScopeRow = RowOf<'feature_flag_scopes'>
export type UserListRow = RowOf<'feature_flag_user_lists'>

export type FlagClientRow = RowOf<'feature_flag_clients'>

function flagsOf(db: Db, projectId: number) {
  return db.selectFrom('feature_flags').selectAll().where('project_id', '=', projectId)
}

export function listFlags(
  db: Db,
  projectId: number,
  active: boolean | undefined,
  page: OffsetPage,
) {
  const query = flagsOf(db, projectId)
    .$if(active !== undefined, (query) => query.where('active', '=', active ? 1 : 0))
    .orderBy('name')
  return listPage(db, query, page)
}

export async function findFlag(
  db: Db,
  projectId: number,
  name: string,
): Promise<FlagRow | undefined> {
  return await flagsOf(db, projectId).where('name', '=', name).executeTakeFirst()
}

export async function findFlagById(db: Db, id: number): Promise<FlagRow | undefined> {
  return await db.selectFrom('feature_flags').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The flag of a project that was made last, as an example for hooks that are tried out. */
export async function findNewestFlag(db: Db, projectId: number): Promise<FlagRow | undefined> {
  return await db
    .selectFrom('feature_flags')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

/** Every flag of a project, for the programs that ask for them all. */
export async function listAllFlags(db: Db, projectId: number): Promise<FlagRow[]> {
  return await flagsOf(db, projectId).orderBy('id').execute()
}

export async function countFlags(db: Db, projectId: number): Promise<number> {
  const row = await flagsOf(db, projectId)
    .clearSelect()
    .select((is) => is.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}

export async function insertFlag(db: Db, row: NewRowOf<'feature_flags'>): Promise<FlagRow> {
  return await db.insertInto('feature_flags').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function updateFlag(
  db: Db,
  id: number,
  values: ChangesOf<'feature_flags'>,
): Promise<FlagRow> {
  return await db
    .updateTable('feature_flags')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteFlag(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('feature_flags').where('id', '=', id))
}

export async function listStrategies(db: Db, flagIds: readonly number[]): Promise<StrategyRow[]> {
  if (flagIds.length === 0) return []
  return await db
    .selectFrom('feature_flag_strategies')
    .selectAll()
    .where('feature_flag_id', 'in', flagIds)
    .orderBy('id')
    .execute()
}

export async function insertStrategy(
  db: Db,
  row: NewRowOf<'feature_flag_strategies'>,
): Promise<number> {
  const { id } = await db
    .insertInto('feature_flag_strategies')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function updateStrategy(
  db: Db,
  id: number,
  values: ChangesOf<'feature_flag_strategies'>,
): Promise<void> {
  await db.updateTable('feature_flag_strategies').set(values).where('id', '=', id).execute()
}

export async function deleteStrategy(db: Db, id: number): Promise<void> {
  await db.deleteFrom('feature_flag_strategies').where('id', '=', id).execute()
}

export async function listScopes(db: Db, strategyIds: readonly number[]): Promise<ScopeRow[]> {
  if (strategyIds.length === 0) return []
  return await db
    .selectFrom('feature_flag_scopes')
    .selectAll()
    .where('strategy_id', 'in', strategyIds)
    .orderBy('id')
    .execute()
}

export async function insertScope(db: Db, strategyId: number, scope: string): Promise<void> {
  await db
    .insertInto('feature_flag_scopes')
    .values({ strategy_id: strategyId, environment_scope: scope })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function updateScope(db: Db, id: number, scope: string): Promise<void> {
  await db
    .updateTable('feature_flag_scopes')
    .set({ environment_scope: scope })
    .where('id', '=', id)
    .execute()
}

export async function deleteScope(db: Db, id: number): Promise<void> {
  await db.deleteFrom('feature_flag_scopes').where('id', '=', id).execute()
}

function userListsOf(db: Db, projectId: number) {
  return db.selectFrom('feature_flag_user_lists').selectAll().where('project_id', '=', projectId)
}

export function listUserLists(
  db: Db,
  projectId: number,
  search: string | undefined,
  page: OffsetPage,
) {
  const query = userListsOf(db, projectId)
    .$if(search !== undefined, (query) =>
      query.where(sql<boolean>`name LIKE ${containing(search ?? '')} ESCAPE '\\'`),
    )
    .orderBy('id')
  return listPage(db, query, page)
}

export async function findUserList(
  db: Db,
  projectId: number,
  iid: number,
): Promise<UserListRow | undefined> {
  return await userListsOf(db, projectId).where('iid', '=', iid).executeTakeFirst()
}

export async function listUserListsById(
  db: Db,
  projectId: number,
  ids: readonly number[],
): Promise<UserListRow[]> {
  if (ids.length === 0) return []
  return await userListsOf(db, projectId).where('id', 'in', ids).execute()
}

/** Whether a strategy of some flag uses a list. */
export async function isListUsed(db: Db, id: number): Promise<boolean> {
  const row = await db
    .selectFrom('feature_flag_strategies')
    .select('id')
    .where('user_list_id', '=', id)
    .executeTakeFirst()
  return row !== undefined
}

export async function insertUserList(
  db: Db,
  row: NewRowOf<'feature_flag_user_lists'>,
): Promise<UserListRow> {
  return await db
    .insertInto('feature_flag_user_lists')
    .values(row)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updateUserList(
  db: Db,
  id: number,
  values: ChangesOf<'feature_flag_user_lists'>,
): Promise<UserListRow> {
  return await db
    .updateTable('feature_flag_user_lists')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteUserList(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('feature_flag_user_lists').where('id', '=', id))
}

export async function findFlagClient(
  db: Db,
  projectId: number,
): Promise<FlagClientRow | undefined> {
  return await db
    .selectFrom('feature_flag_clients')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

/** Gives a project a key, in the place of the one that it had. */
export async function replaceFlagClient(
  db: Db,
  row: NewRowOf<'feature_flag_clients'>,
): Promise<FlagClientRow> {
  return await db
    .insertInto('feature_flag_clients')
    .values(row)
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet(row))
    .returningAll()
    .executeTakeFirstOrThrow()
}
