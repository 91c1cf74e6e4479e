import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'

/** Whether only listed projects reach a project with their jobs' tokens. */
export async function isInboundLimited(db: Db, projectId: number): Promise<boolean> {
  const row = await db
    .selectFrom('ci_job_token_scopes')
    .select('inbound_enabled')
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  return row?.inbound_enabled !== 0
}

export async function saveInbound(db: Db, projectId: number, enabled: boolean): Promise<void> {
  await db
    .insertInto('ci_job_token_scopes')
    .values({ project_id: projectId, inbound_enabled: enabled })
    .onConflict((conflict) =>
      conflict.column('project_id').doUpdateSet({ inbound_enabled: enabled }),
    )
    .execute()
}

/** What a list names: projects or groups. */
export type TargetKind = 'project' | 'group'

const columnOf = { project: 'target_project_id', group: 'target_group_id' } as const

/**
 * A page of the ids on a list in the order in which they were added. A project reaches itself, and stands first on its
 * list of projects.
 */
export async function listAllowed(
  db: Db,
  projectId: number,
  kind: TargetKind,
  page: OffsetPage,
): Promise<Paged<number>> {
  const column = sql.ref(columnOf[kind])
  const own = kind === 'project' ? sql`SELECT ${projectId} AS target, 0 AS place UNION ALL` : sql``
  const all = sql<{ target: number; place: number }>`(${own}
    SELECT ${column} AS target, id AS place FROM ci_job_token_allowed
    WHERE project_id = ${projectId} AND ${column} IS NOT NULL)`
  const query = db.selectFrom(all.as('allowed')).select('allowed.target').orderBy('allowed.place')
  const rows = await listPage(db, query, page)
  return { ...rows, items: rows.items.map((row) => row.target) }
}

export async function isAllowed(
  db: Db,
  projectId: number,
  kind: TargetKind,
  targetId: number,
): Promise<boolean> {
  const row = await db
    .selectFrom('ci_job_token_allowed')
    .select('id')
    .where('project_id', '=', projectId)
    .where(columnOf[kind], '=', targetId)
    .executeTakeFirst()
  return row !== undefined
}

export async function insertAllowed(
  db: Db,
  row: {
    readonly projectId: number
    readonly kind: TargetKind
    readonly targetId: number
    readonly addedBy: number | null
  },
  now: Instant,
): Promise<void> {
  await db
    .insertInto('ci_job_token_allowed')
    .values({
      project_id: row.projectId,
      [columnOf[row.kind]]: row.targetId,
      added_by_id: row.addedBy,
      created_at: now,
    })
    .execute()
}

export async function deleteAllowed(
  db: Db,
  projectId: number,
  kind: TargetKind,
  targetId: number,
): Promise<boolean> {
  const done = await db
    .deleteFrom('ci_job_token_allowed')
    .where('project_id', '=', projectId)
    .where(columnOf[kind], '=', targetId)
    .executeTakeFirst()
  return done.numDeletedRows > 0n
}
