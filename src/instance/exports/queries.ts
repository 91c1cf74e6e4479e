import { type SqlBool, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { SourceType } from '../../store/schema/core.ts'
import type { ChangesOf, Db, NewRowOf } from '../../store/schema.ts'

export interface ExportKey {
  readonly type: SourceType
  readonly id: number
}

const isOf = ({ type, id }: ExportKey) => sql<SqlBool>`source_type = ${type} AND source_id = ${id}`

export async function findExport(db: Db, key: ExportKey) {
  return await db.selectFrom('exports').selectAll().where(isOf(key)).executeTakeFirst()
}

/** Notes that an export was asked for; the one before it is forgotten. */
export async function saveExport(db: Db, row: NewRowOf<'exports'>): Promise<void> {
  await db
    .insertInto('exports')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['source_type', 'source_id'])
        .doUpdateSet({ file: null, size: null, finished_at: null, left_out: '[]', ...row }),
    )
    .execute()
}

export async function updateExport(
  db: Db,
  key: ExportKey,
  change: ChangesOf<'exports'>,
): Promise<void> {
  await db.updateTable('exports').set(change).where(isOf(key)).execute()
}

/** Notes that an export was given up; one whose archive is there stays finished. */
export async function noteFailedExport(db: Db, key: ExportKey): Promise<void> {
  await db
    .updateTable('exports')
    .set({ status: 'failed' })
    .where(isOf(key))
    .where('status', '!=', 'finished')
    .execute()
}

/** Exports that nobody may download any more. */
export async function listExportsBefore(db: Db, before: Instant) {
  return await db
    .selectFrom('exports')
    .select(['source_type', 'source_id', 'file'])
    .where('finished_at', '<', before)
    .execute()
}

/** Forgets an export, unless another was asked for meanwhile. */
export async function deleteExport(db: Db, key: ExportKey, before: Instant): Promise<void> {
  await db.deleteFrom('exports').where(isOf(key)).where('finished_at', '<', before).execute()
}

export async function listOwnLabels(db: Db, { type, id }: ExportKey) {
  const rows = await db
    .selectFrom('labels')
    .leftJoin('label_priorities', (join) =>
      join
        .onRef('label_priorities.label_id', '=', 'labels.id')
        .onRef('label_priorities.project_id', '=', 'labels.project_id'),
    )
    .select(['title as name', 'color', 'description', 'archived', 'priority'])
    .where(type === 'project' ? 'labels.project_id' : 'labels.group_id', '=', id)
    .orderBy('labels.id')
    .execute()
  return rows.map((row) => ({ ...row, archived: row.archived === 1 }))
}

export async function listOwnMilestones(db: Db, { type, id }: ExportKey) {
  return await db
    .selectFrom('milestones')
    .select(['title', 'description', 'start_date', 'due_date', 'state'])
    .where(type === 'project' ? 'project_id' : 'group_id', '=', id)
    .orderBy('id')
    .execute()
}

/** The groups below a group, parents before children. */
export async function listGroupsBelow(db: Db, groupId: number) {
  return await db
    .selectFrom('namespace_ancestors as a')
    .innerJoin('namespaces as n', 'n.id', 'a.namespace_id')
    .selectAll('n')
    .select('a.depth')
    .where('a.ancestor_id', '=', groupId)
    .where('n.pending_delete', '=', 0)
    .orderBy('a.depth')
    .orderBy('n.id')
    .execute()
}

/** What exports do not carry: its name in answers, and where it stands. */
const LEFT_OUT = [
  ['issues', 'issues', 'project_id'],
  ['merge_requests', 'merge_requests', 'target_project_id'],
  ['notes', 'notes', 'project_id'],
  ['releases', 'releases', 'project_id'],
  ['snippets', 'snippets', 'project_id'],
  ['boards', 'boards', 'project_id'],
  ['uploads', 'uploads', 'source'],
  ['project_members', 'members', 'source'],
  ['project_badges', 'badges', 'project_id'],
  ['hooks', 'webhooks', 'project_id'],
  ['protected_branches', 'protected_branches', 'project_id'],
  ['protected_tags', 'protected_tags', 'project_id'],
  ['push_rule', 'push_rules', 'project_id'],
  ['approval_rules', 'approval_rules', 'project_id'],
  ['ci_pipelines', 'pipelines', 'project_id'],
  ['pipeline_schedules', 'ci_schedules', 'project_id'],
  ['triggers', 'ci_triggers', 'project_id'],
  ['variables', 'ci_variables', 'project_id'],
  ['secure_files', 'ci_secure_files', 'project_id'],
  ['environments', 'environments', 'project_id'],
  ['protected_environments', 'protected_environments', 'project_id'],
  ['feature_flags', 'feature_flags', 'project_id'],
  ['packages', 'packages', 'project_id'],
  ['container_repositories', 'container_repositories', 'project_id'],
  ['alerts', 'alerts', 'project_id'],
  ['errors', 'errors', 'project_id'],
] as const

/** The names of all that exports do not carry. */
export const leftOutNames: readonly string[] = LEFT_OUT.map(([name]) => name)

/** How many of each a project has; without what an import makes by itself: its owner, and the protected default branch. */
export async function listRelationCounts(db: Db, projectId: number) {
  const counts = LEFT_OUT.map(([name, table, column]) => {
    const isOf =
      column === 'source'
        ? sql`source_type = 'project' AND source_id = ${projectId}`
        : sql`${sql.ref(column)} = ${projectId}`
    const isOwn = made[name] ?? sql`1`
    return sql`SELECT ${sql.lit(name)} AS relation_name, count(*) AS count
      FROM ${sql.table(table)} WHERE ${isOf} AND ${isOwn}`
  })
  const query = sql<{ relation_name: string; count: number }>`${sql.join(counts, sql` UNION ALL `)}`
  return (await query.execute(db)).rows
}

const made: Readonly<Partial<Record<(typeof LEFT_OUT)[number][0], ReturnType<typeof sql>>>> = {
  project_members: sql`user_id IS NOT (SELECT creator_id FROM projects WHERE id = members.source_id)`,
  protected_branches: sql`name <> (SELECT coalesce(default_branch, '') FROM projects WHERE id = project_id)`,
}

/** Notes what the archive of a project did not hold; the run before is forgotten. */
export async function saveImportLeftOut(db: Db, row: NewRowOf<'import_left_out'>): Promise<void> {
  await db
    .insertInto('import_left_out')
    .values(row)
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet(row))
    .execute()
}

export async function findImportLeftOut(db: Db, projectId: number) {
  return await db
    .selectFrom('import_left_out')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}
