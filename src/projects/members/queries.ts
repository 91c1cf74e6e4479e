import { type SqlBool, sql } from 'kysely'
import type { SourceRef } from '../../access/sources.ts'
import type { Day } from '../../base/clock.ts'
import { hasAbove, namespacesBelow } from '../../store/hierarchy.ts'
import type { ChangesOf, Db } from '../../store/schema.ts'
import { ENDED, type EndedRow, type MemberRow, type NewMemberRow } from './rows.ts'

export async function insertMember(db: Db, row: NewMemberRow): Promise<void> {
  await db.insertInto('members').values(row).execute()
}

export async function updateMemberRow(
  db: Db,
  id: number,
  change: ChangesOf<'members'>,
): Promise<void> {
  await db.updateTable('members').set(change).where('id', '=', id).execute()
}

export async function deleteMemberRow(db: Db, id: number): Promise<void> {
  await db.deleteFrom('members').where('id', '=', id).execute()
}

/** The user's row in a source, whatever it is: membership, request, or one that has expired. */
export async function findRowOfUser(
  db: Db,
  source: SourceRef,
  userId: number,
): Promise<MemberRow | undefined> {
  return await db
    .selectFrom('members')
    .selectAll()
    .where('source_type', '=', source.type)
    .where('source_id', '=', source.id)
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

/** The user whom a route means, by id or username. */
export async function findMemberUser(db: Db, by: { id: number } | { username: string }) {
  const query = db
    .selectFrom('users')
    .select([
      'id',
      'username',
      'name',
      'email',
      'kind',
      'state',
      'service_source_type',
      'service_source_id',
    ])
  return 'id' in by
    ? await query.where('id', '=', by.id).executeTakeFirst()
    : await query.where('username', '=', by.username).executeTakeFirst()
}

/**
 * The highest level that the user has from the groups above, with the name of the group: what a new direct level must
 * reach (docs/contract/A-resolved §9).
 */
export async function findInheritedLevel(
  db: Db,
  source: SourceRef & { readonly namespaceId: number },
  userId: number,
  today: Day,
): Promise<{ level: number; group: string } | undefined> {
  return await db
    .selectFrom('namespace_ancestors as a')
    .innerJoin('members as m', (join) =>
      join.onRef('m.source_id', '=', 'a.ancestor_id').on('m.source_type', '=', 'group'),
    )
    .innerJoin('namespaces as n', 'n.id', 'm.source_id')
    .select(['m.access_level as level', 'n.name as group'])
    .where('a.namespace_id', '=', source.namespaceId)
    .where('m.user_id', '=', userId)
    .where('m.requested_at', 'is', null)
    .where('m.state', '=', 'active')
    .where((eb) => eb.or([eb('m.expires_at', 'is', null), eb('m.expires_at', '>', today)]))
    .$if(source.type === 'group', (query) => query.where('a.depth', '>', 0))
    .orderBy('m.access_level', 'desc')
    .orderBy('a.depth')
    .executeTakeFirst()
}

/** How many owners stay with a group beside a user, inherited ones included; bots and who leaves on a known day do not count. */
export async function countOtherOwners(db: Db, groupId: number, userId: number): Promise<number> {
  const row = await db
    .selectFrom('namespace_ancestors as a')
    .innerJoin('members as m', (join) =>
      join.onRef('m.source_id', '=', 'a.ancestor_id').on('m.source_type', '=', 'group'),
    )
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('a.namespace_id', '=', groupId)
    .where('m.access_level', '=', 50)
    .where('m.user_id', '!=', userId)
    .where('u.kind', 'not in', ['project_bot', 'group_bot', 'ghost'])
    .where('m.requested_at', 'is', null)
    .where('m.state', '=', 'active')
    .where('m.expires_at', 'is', null)
    .executeTakeFirstOrThrow()
  return row.count
}

/** The user who owns the personal namespace of a project; undefined in groups. */
export async function findNamespaceOwner(db: Db, namespaceId: number): Promise<number | null> {
  const row = await db
    .selectFrom('namespaces')
    .select('owner_id')
    .where('id', '=', namespaceId)
    .executeTakeFirst()
  return row?.owner_id ?? null
}

/** Whether a group above a project keeps its members as they are. */
export function isMembershipLocked(db: Db, namespaceId: number): Promise<boolean> {
  return hasAbove(db, namespaceId, sql`n.membership_lock = 1`)
}

const below = (groupId: number) => sql<SqlBool>`(
  (source_type = 'group' AND source_id <> ${groupId} AND source_id IN ${namespacesBelow(groupId)})
  OR (source_type = 'project' AND source_id IN
    (SELECT p.id FROM projects p JOIN namespace_ancestors a ON a.namespace_id = p.namespace_id
     WHERE a.ancestor_id = ${groupId})))`

/** Deletes the user's memberships below a group, which it gives back, and invitations that the user sent there. */
export async function deleteMembersBelow(
  db: Db,
  groupId: number,
  userId: number,
): Promise<EndedRow[]> {
  await db
    .deleteFrom('members')
    .where('created_by_id', '=', userId)
    .where('user_id', 'is', null)
    .where(sql<SqlBool>`(${below(groupId)} OR (source_type = 'group' AND source_id = ${groupId}))`)
    .execute()
  return await db
    .deleteFrom('members')
    .where('user_id', '=', userId)
    .where(below(groupId))
    .returning(ENDED)
    .execute()
}

/** Deletes memberships and invitations that have ended. */
export function deleteExpiredMembers(db: Db, today: Day): Promise<EndedRow[]> {
  return db.deleteFrom('members').where('expires_at', '<=', today).returning(ENDED).execute()
}

export async function findSourcePath(
  db: Db,
  source: SourceRef,
): Promise<{ readonly path: string; readonly name: string } | undefined> {
  const table = source.type === 'group' ? 'namespaces' : 'projects'
  return await db
    .selectFrom(table)
    .select(['full_path as path', 'name'])
    .where('id', '=', source.id)
    .executeTakeFirst()
}

/** Persons who decide about access: direct members of this level, ten at most, the latest active first. */
export async function listManagerIds(db: Db, source: SourceRef, least: number): Promise<number[]> {
  const rows = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select('users.id')
    .where('members.source_type', '=', source.type)
    .where('members.source_id', '=', source.id)
    .where('members.access_level', '>=', least)
    .where('members.requested_at', 'is', null)
    .where('users.state', '=', 'active')
    .where('users.kind', '=', 'human')
    .orderBy('users.last_activity_on', 'desc')
    .orderBy('users.id')
    .limit(10)
    .execute()
  return rows.map((row) => row.id)
}
