import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
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

/** The ids on a list in the order in which they were added. */
export async function listAllowed(db: Db, projectId: number, kind: TargetKind): Promise<number[]> {
  const column = columnOf[kind]
  const rows = await db
    .selectFrom('ci_job_token_allowed')
    .select(sql<number>`${sql.ref(column)}`.as('target'))
    .where('project_id', '=', projectId)
    .where(column, 'is not', null)
    .orderBy('id')
    .execute()
  return rows.map((row) => row.target)
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
