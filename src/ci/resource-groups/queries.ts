import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { ProcessMode } from '../../store/schema/environments.ts'
import type { Db, RowOf } from '../../store/schema.ts'

export type ResourceGroupRow = RowOf<'ci_resource_groups'>

/** Adds the groups that jobs of a project have named and that are not there yet. */
export async function insertNamedGroups(
  db: Db,
  projectId: number,
  mode: ProcessMode,
  now: Instant,
): Promise<void> {
  await db
    .insertInto('ci_resource_groups')
    .columns(['project_id', 'key', 'process_mode', 'created_at', 'updated_at'])
    .expression((from) =>
      from
        .selectFrom('ci_jobs')
        .select('project_id')
        .select((is) => is.fn.coalesce('resource_group', sql<string>`''`).as('key'))
        .select([
          sql<ProcessMode>`${mode}`.as('process_mode'),
          sql<string>`${now}`.as('created_at'),
          sql<string>`${now}`.as('updated_at'),
        ])
        .distinct()
        .where('project_id', '=', projectId)
        .where('resource_group', 'is not', null),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export function listResourceGroups(db: Db, projectId: number, page: OffsetPage) {
  const query = db
    .selectFrom('ci_resource_groups')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('id')
  return listPage(db, query, page)
}

export async function findResourceGroup(
  db: Db,
  projectId: number,
  key: string,
): Promise<ResourceGroupRow | undefined> {
  return await db
    .selectFrom('ci_resource_groups')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('key', '=', key)
    .executeTakeFirst()
}

export async function updateResourceGroup(
  db: Db,
  id: number,
  process_mode: ProcessMode,
  now: Instant,
): Promise<ResourceGroupRow> {
  return await db
    .updateTable('ci_resource_groups')
    .set({ process_mode, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}
