import { sql } from 'kysely'
import type { Visibility } from '../../access/roles.ts'
import type { Day, Instant } from '../../base/clock.ts'
import { namespacesBelow } from '../../store/hierarchy.ts'
import type { Db } from '../../store/schema.ts'
import { type SharedRunners, sharedRunners } from '../namespaces/shared-runners.ts'

/** A full path or name whose beginning changes with that of a namespace above it. */
const moved = (column: string, from: string, to: string) =>
  sql<string>`${to} || substr(${sql.ref(column)}, ${[...from].length + 1})`

export interface Place {
  readonly fullPath: string
  readonly fullName: string
}

/** Lets the paths and names of everything below a namespace follow its own; routes follow by triggers. */
export async function moveBelow(
  db: Db,
  namespaceId: number,
  from: Place,
  to: Place,
): Promise<void> {
  await db
    .updateTable('namespaces')
    .set({
      full_path: moved('full_path', from.fullPath, to.fullPath),
      full_name: moved('full_name', from.fullName, to.fullName),
    })
    .where('id', 'in', namespacesBelow(namespaceId))
    .execute()
}

/** How many levels a group has below it, itself counted. */
export async function findHeight(db: Db, groupId: number): Promise<number> {
  const row = await db
    .selectFrom('namespace_ancestors')
    .select((eb) => eb.fn.max<number>('depth').as('depth'))
    .where('ancestor_id', '=', groupId)
    .executeTakeFirstOrThrow()
  return row.depth + 1
}

/** The most visible of what lies below a group: its subgroups, and all projects there. */
export async function listVisibilitiesBelow(
  db: Db,
  groupId: number,
): Promise<{ groups: Visibility[]; projects: Visibility[] }> {
  const groups = await db
    .selectFrom('namespaces')
    .select('visibility')
    .distinct()
    .where('id', 'in', namespacesBelow(groupId))
    .where('id', '<>', groupId)
    .where('pending_delete', '=', 0)
    .execute()
  const projects = await db
    .selectFrom('projects')
    .select('visibility')
    .distinct()
    .where('namespace_id', 'in', namespacesBelow(groupId))
    .where('pending_delete', '=', 0)
    .execute()
  return {
    groups: groups.map((row) => row.visibility),
    projects: projects.map((row) => row.visibility),
  }
}

/** Makes a group and all below no more visible than the given levels allow. */
export async function lowerVisibility(
  db: Db,
  groupId: number,
  visibility: Visibility,
  tooHigh: readonly Visibility[],
): Promise<void> {
  if (tooHigh.length === 0) return
  await db
    .updateTable('namespaces')
    .set({ visibility })
    .where('id', 'in', namespacesBelow(groupId))
    .where('visibility', 'in', tooHigh)
    .execute()
}

/** Gives a group and all below this word on the runners of the instance, unless theirs is stricter. */
export async function restrictRunners(
  db: Db,
  groupId: number,
  word: SharedRunners,
  now: Instant,
): Promise<void> {
  const looser = sharedRunners.slice(0, sharedRunners.indexOf(word))
  await db
    .updateTable('namespaces')
    .set({
      settings: sql<string>`json_set(settings, '$.shared_runners_setting', ${word})`,
      updated_at: now,
    })
    .where('id', 'in', namespacesBelow(groupId))
    .where(
      sql<string>`coalesce(json_extract(settings, '$.shared_runners_setting'), 'enabled')`,
      'in',
      looser,
    )
    .execute()
}

/** Hides a group with everything below it. */
export async function hideBelow(db: Db, groupId: number, now: Instant): Promise<void> {
  await db
    .updateTable('namespaces')
    .set({ pending_delete: 1, updated_at: now })
    .where('id', 'in', namespacesBelow(groupId))
    .execute()
}

/** Deletes a group that is marked so, and all groups below it. */
export async function deleteGroupRow(db: Db, groupId: number): Promise<void> {
  await db
    .deleteFrom('namespaces')
    .where('id', '=', groupId)
    .where('pending_delete', '=', 1)
    .execute()
}

export async function isGroupPendingDelete(db: Db, groupId: number): Promise<boolean> {
  const row = await db
    .selectFrom('namespaces')
    .select('pending_delete')
    .where('id', '=', groupId)
    .executeTakeFirst()
  return row?.pending_delete === 1
}

/** Groups whose time to be removed has come. */
export async function listGroupsMarkedBefore(db: Db, day: Day) {
  return await db
    .selectFrom('namespaces')
    .select('id')
    .where('marked_for_deletion_on', '<=', day)
    .where('pending_delete', '=', 0)
    .execute()
}
