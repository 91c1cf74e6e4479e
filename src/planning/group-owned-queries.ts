import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { repoint } from '../store/repoint.ts'
import type { Db, Schema } from '../store/schema.ts'

/** What groups own and the projects below them use. */
type GroupOwned = 'label' | 'milestone'

/** A table whose rows name labels or milestones, and which of them are a project's. */
interface Use {
  readonly table: keyof Schema
  readonly ofProject: (projectId: number) => RawBuilder<SqlBool>
  /** Each thing names it once: where it would twice, one row goes. */
  readonly once?: true
  /** They only record what was. */
  readonly past?: true
}

const own = (projectId: number) => sql<SqlBool>`project_id = ${projectId}`
const toProject = (projectId: number) => sql<SqlBool>`target_project_id = ${projectId}`
const onBoard = (projectId: number) =>
  sql<SqlBool>`board_id IN (SELECT id FROM boards WHERE project_id = ${projectId})`
const onRelease = (projectId: number) =>
  sql<SqlBool>`release_id IN (SELECT id FROM releases WHERE project_id = ${projectId})`
const onWork = (projectId: number) =>
  sql<SqlBool>`((subject_type = 'issue' AND subject_id IN (SELECT id FROM issues WHERE project_id = ${projectId}))
    OR (subject_type = 'merge_request'
      AND subject_id IN (SELECT id FROM merge_requests WHERE target_project_id = ${projectId})))`

const uses: Readonly<Record<GroupOwned, readonly Use[]>> = {
  label: [
    { table: 'label_links', ofProject: onWork, once: true },
    { table: 'label_priorities', ofProject: own, once: true },
    { table: 'board_labels', ofProject: onBoard, once: true },
    { table: 'board_lists', ofProject: onBoard, once: true },
    { table: 'resource_events', ofProject: onWork, past: true },
  ],
  milestone: [
    { table: 'issues', ofProject: own },
    { table: 'merge_requests', ofProject: toProject },
    { table: 'release_milestones', ofProject: onRelease, once: true },
    { table: 'boards', ofProject: own },
    { table: 'board_lists', ofProject: onBoard, once: true },
    { table: 'resource_events', ofProject: onWork, past: true },
  ],
}

const columnOf = (kind: GroupOwned) => sql.ref(`${kind}_id`)

/** Ids of labels or milestones that a project uses, of groups that are not above it. */
async function listUsedOfOtherGroups(
  db: Db,
  kind: GroupOwned,
  projectId: number,
): Promise<number[]> {
  const used = uses[kind]
    .filter((use) => !use.past)
    .map(
      ({ table, ofProject }) =>
        sql`SELECT ${columnOf(kind)} FROM ${sql.table(table)} WHERE ${ofProject(projectId)}`,
    )
  const { rows } = await sql<{ id: number }>`SELECT owned.id FROM ${sql.table(`${kind}s`)} owned
    JOIN projects ON projects.id = ${projectId}
    WHERE owned.id IN (${sql.join(used, sql` UNION `)})
    AND owned.group_id NOT IN (SELECT a.ancestor_id FROM namespace_ancestors a
      WHERE a.namespace_id = projects.namespace_id)
    ORDER BY owned.id`.execute(db)
  return rows.map((row) => row.id)
}

export async function listLabelsOfOtherGroups(db: Db, projectId: number) {
  const ids = await listUsedOfOtherGroups(db, 'label', projectId)
  return db.selectFrom('labels').selectAll().where('id', 'in', ids).orderBy('id').execute()
}

export async function listMilestonesOfOtherGroups(db: Db, projectId: number) {
  const ids = await listUsedOfOtherGroups(db, 'milestone', projectId)
  return db.selectFrom('milestones').selectAll().where('id', 'in', ids).orderBy('id').execute()
}

/** Has a project use one label or milestone instead of another. */
export async function replaceUses(
  db: Db,
  kind: GroupOwned,
  projectId: number,
  fromId: number,
  toId: number,
): Promise<void> {
  const column = columnOf(kind)
  for (const { table, ofProject, once } of uses[kind]) {
    const named = sql`${column} = ${fromId} AND ${ofProject(projectId)}`
    await sql`UPDATE OR IGNORE ${sql.table(table)} SET ${column} = ${toId} WHERE ${named}`.execute(
      db,
    )
    if (once) await sql`DELETE FROM ${sql.table(table)} WHERE ${named}`.execute(db)
  }
}

/** Has all that use some labels or milestones use another one. */
export async function mergeUses(
  db: Db,
  kind: GroupOwned,
  fromIds: readonly number[],
  toId: number,
): Promise<void> {
  for (const { table } of uses[kind]) await repoint(db, table, `${kind}_id`, fromIds, toId)
}
