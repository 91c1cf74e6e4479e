import { namespacesBelow } from '../../store/hierarchy.ts'
import type { Db } from '../../store/schema.ts'

export type HookProjectRow = NonNullable<Awaited<ReturnType<typeof findHookProjectRow>>>

/** A project as payloads of the instance's hooks show it, also while it is being removed. */
export function findHookProjectRow(db: Db, id: number) {
  return db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select([
      'projects.id',
      'projects.name',
      'projects.path',
      'projects.full_path',
      'projects.visibility',
      'projects.namespace_id',
      'projects.created_at',
      'projects.updated_at',
      'namespaces.name as namespace_name',
      'namespaces.kind as namespace_kind',
      'namespaces.owner_id',
    ])
    .where('projects.id', '=', id)
    .executeTakeFirst()
}

export type HookGroupRow = NonNullable<Awaited<ReturnType<typeof findHookGroupRow>>>

export function findHookGroupRow(db: Db, id: number) {
  return db
    .selectFrom('namespaces')
    .leftJoin('namespaces as parent', 'parent.id', 'namespaces.parent_id')
    .select([
      'namespaces.id',
      'namespaces.name',
      'namespaces.path',
      'namespaces.full_path',
      'namespaces.parent_id',
      'namespaces.created_at',
      'namespaces.updated_at',
      'parent.name as parent_name',
      'parent.path as parent_path',
      'parent.full_path as parent_full_path',
    ])
    .where('namespaces.id', '=', id)
    .executeTakeFirst()
}

export function findHookUserRow(db: Db, id: number) {
  return db
    .selectFrom('users')
    .select([
      'id',
      'name',
      'username',
      'email',
      'public_email',
      'avatar_file',
      'avatar_name',
      'state',
      'created_at',
      'updated_at',
    ])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Direct owners of a group, for `owners` of a project's payload. */
export function listOwners(db: Db, groupId: number) {
  return db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['users.name', 'users.email', 'users.public_email'])
    .where('members.source_type', '=', 'group')
    .where('members.source_id', '=', groupId)
    .where('members.access_level', '>=', 50)
    .where('members.requested_at', 'is', null)
    .orderBy('users.id')
    .limit(20)
    .execute()
}

/** The first project with code in a group and the groups below; the first at all when none has any. */
export async function findFirstProjectId(db: Db, groupId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('projects')
    .select('id')
    .where('namespace_id', 'in', namespacesBelow(groupId))
    .where('pending_delete', '=', 0)
    .orderBy('empty_repo')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

export async function findFirstSubgroupId(db: Db, groupId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('namespaces')
    .select('id')
    .where('parent_id', '=', groupId)
    .where('pending_delete', '=', 0)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** The first who is a member of a group itself. */
export function findFirstMember(db: Db, groupId: number) {
  return db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['users.id as userId', 'members.access_level as level'])
    .where('source_type', '=', 'group')
    .where('source_id', '=', groupId)
    .where('requested_at', 'is', null)
    .orderBy('members.id')
    .limit(1)
    .executeTakeFirst()
}
