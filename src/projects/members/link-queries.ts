import { sql } from 'kysely'
import type { SourceRef } from '../../access/sources.ts'
import type { Day } from '../../base/clock.ts'
import { hasAbove } from '../../store/hierarchy.ts'
import type { Db, NewRowOf } from '../../store/schema.ts'

/** Invites a group to a source; gives the invitation's id. */
export async function insertLink(db: Db, link: NewRowOf<'group_links'>): Promise<number> {
  const { id } = await db
    .insertInto('group_links')
    .values(link)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export function findLink(db: Db, source: SourceRef, groupId: number) {
  return db
    .selectFrom('group_links')
    .select(['group_id', 'access_level'])
    .where('source_type', '=', source.type)
    .where('source_id', '=', source.id)
    .where('group_id', '=', groupId)
    .executeTakeFirst()
}

/** Removes an invitation; false when there is none. */
export async function deleteLink(db: Db, source: SourceRef, groupId: number): Promise<boolean> {
  const done = await db
    .deleteFrom('group_links')
    .where('source_type', '=', source.type)
    .where('source_id', '=', source.id)
    .where('group_id', '=', groupId)
    .executeTakeFirst()
  return done.numDeletedRows > 0n
}

/** Removes an invitation that has ended, so that the group can be invited anew. */
export async function deleteEndedLink(
  db: Db,
  source: SourceRef,
  groupId: number,
  today: Day,
): Promise<void> {
  await db
    .deleteFrom('group_links')
    .where('source_type', '=', source.type)
    .where('source_id', '=', source.id)
    .where('group_id', '=', groupId)
    .where('expires_at', '<=', today)
    .execute()
}

export async function deleteExpiredLinks(db: Db, today: Day): Promise<void> {
  await db.deleteFrom('group_links').where('expires_at', '<=', today).execute()
}

/** The groups that were invited to projects, or to groups. */
export async function listGroupLinks(
  db: Db,
  type: SourceRef['type'],
  sourceIds: readonly number[],
  today: Day,
) {
  return await db
    .selectFrom('group_links')
    .innerJoin('namespaces', 'namespaces.id', 'group_links.group_id')
    .select([
      'group_links.source_id',
      'group_links.group_id',
      'namespaces.name as group_name',
      'namespaces.full_path as group_full_path',
      'namespaces.visibility',
      'group_links.access_level as group_access_level',
      'group_links.expires_at',
      'group_links.member_role_id',
    ])
    .where('group_links.source_type', '=', type)
    .where('group_links.source_id', 'in', sourceIds)
    .where((eb) =>
      eb.or([eb('group_links.expires_at', 'is', null), eb('group_links.expires_at', '>', today)]),
    )
    .orderBy('group_links.id')
    .execute()
}

/** Whether a group at or above the namespace keeps its projects from being shared. */
export function isSharingLocked(db: Db, namespaceId: number): Promise<boolean> {
  return hasAbove(db, namespaceId, sql`n.share_with_group_lock = 1`)
}

/** Whether a group is the namespace, or above it. */
export function isAtOrAbove(db: Db, groupId: number, namespaceId: number): Promise<boolean> {
  return hasAbove(db, namespaceId, sql`n.id = ${groupId}`)
}

/** The group at the top of a hierarchy. */
export async function findTopGroup(db: Db, namespaceId: number): Promise<number> {
  const row = await db
    .selectFrom('namespace_ancestors')
    .select('ancestor_id')
    .where('namespace_id', '=', namespaceId)
    .orderBy('depth', 'desc')
    .executeTakeFirstOrThrow()
  return row.ancestor_id
}
