import { sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import { groupsWithRole } from '../../access/visible-queries.ts'
import type { Day } from '../../base/clock.ts'
import type { ChangesOf, Db, NewRowOf } from '../../store/schema.ts'

export type GroupChange = ChangesOf<'namespaces'>

export async function insertGroup(db: Db, row: NewRowOf<'namespaces'>): Promise<number> {
  const { id } = await db
    .insertInto('namespaces')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function updateGroupRow(db: Db, id: number, change: GroupChange): Promise<void> {
  await db
    .updateTable('namespaces')
    .set(change)
    .where('id', '=', id)
    .where('kind', '=', 'group')
    .execute()
}

/** How many groups are above a group, itself counted: the depth of a path. */
export async function countAncestors(db: Db, groupId: number): Promise<number> {
  const row = await db
    .selectFrom('namespace_ancestors')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('namespace_id', '=', groupId)
    .executeTakeFirstOrThrow()
  return row.count
}

export async function findCanCreateGroup(db: Db, userId: number): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('can_create_group')
    .where('id', '=', userId)
    .executeTakeFirst()
  return row?.can_create_group === 1
}

export async function listGroupAttributes(db: Db, groupIds: readonly number[]) {
  return await db
    .selectFrom('custom_attributes')
    .select(['subject_id', 'key', 'value'])
    .where('subject_type', '=', 'group')
    .where('subject_id', 'in', groupIds)
    .orderBy('id')
    .execute()
}

/** Those of these groups in which the user is an owner. */
export async function listOwnedGroups(
  db: Db,
  userId: number,
  groupIds: readonly number[],
  today: Day,
): Promise<number[]> {
  const rows = await db
    .selectFrom('namespaces')
    .select('id')
    .where('id', 'in', groupIds)
    .where(sql<boolean>`id IN ${groupsWithRole(userId, today, Role.owner)}`)
    .execute()
  return rows.map((row) => row.id)
}

/** The group above a group, or undefined at the top. */
export async function findParent(db: Db, groupId: number) {
  return await db
    .selectFrom('namespaces as child')
    .innerJoin('namespaces as parent', 'parent.id', 'child.parent_id')
    .select(['parent.id', 'parent.full_path', 'parent.full_name', 'parent.visibility'])
    .select('parent.settings')
    .where('child.id', '=', groupId)
    .executeTakeFirst()
}
