import { sql } from 'kysely'
import type { Visibility } from '../../access/roles.ts'
import type { Instant } from '../../base/clock.ts'
import { namespacesBelow } from '../../store/hierarchy.ts'
import type { Db } from '../../store/schema.ts'

const inside = (namespaceId: number) =>
  sql<boolean>`namespace_id IN ${namespacesBelow(namespaceId)}`

/** Lets the paths of all projects below a namespace follow its own. */
export async function moveProjectPaths(
  db: Db,
  namespaceId: number,
  from: string,
  to: string,
): Promise<void> {
  await db
    .updateTable('projects')
    .set({ full_path: sql<string>`${to} || substr(full_path, ${[...from].length + 1})` })
    .where(inside(namespaceId))
    .execute()
}

export async function lowerProjects(
  db: Db,
  namespaceId: number,
  visibility: Visibility,
  tooHigh: readonly Visibility[],
): Promise<void> {
  await db
    .updateTable('projects')
    .set({ visibility })
    .where(inside(namespaceId))
    .where('visibility', 'in', tooHigh)
    .execute()
}

/** Switches the runners of the instance off in all projects below a group. */
export async function switchRunnersOff(db: Db, namespaceId: number, now: Instant): Promise<void> {
  await db
    .updateTable('projects')
    .set({
      settings: sql<string>`json_set(settings, '$.shared_runners_enabled', json('false'))`,
      updated_at: now,
    })
    .where(inside(namespaceId))
    .where(sql<boolean>`coalesce(json_extract(settings, '$.shared_runners_enabled'), 1) = 1`)
    .execute()
}

export async function hideProjects(db: Db, namespaceId: number, now: Instant): Promise<void> {
  await db
    .updateTable('projects')
    .set({ pending_delete: 1, forked_from_id: null, updated_at: now })
    .where(inside(namespaceId))
    .execute()
  await db
    .deleteFrom('redirects')
    .where(sql<boolean>`project_id IN (SELECT id FROM projects WHERE ${inside(namespaceId)})`)
    .execute()
}

/** Those that are not being removed yet. */
export async function listLivingIds(db: Db, namespaceId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('projects')
    .select('id')
    .where(inside(namespaceId))
    .where('pending_delete', '=', 0)
    .execute()
  return rows.map((row) => row.id)
}

export async function listProjectIds(db: Db, namespaceId: number): Promise<number[]> {
  const rows = await db.selectFrom('projects').select('id').where(inside(namespaceId)).execute()
  return rows.map((row) => row.id)
}
