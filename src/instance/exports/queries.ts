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
        .doUpdateSet({ file: null, size: null, finished_at: null, ...row }),
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
