import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

interface SideSizesRow {
  readonly wiki: number
  readonly snippets: number
  readonly artifacts: number
}

/** The SQL for the bytes of what jobs left in projects: their files, and their logs once these lie in the store. */
export function sumArtifacts(projects: RawBuilder<unknown>) {
  return sql<number>`coalesce((SELECT sum(size) FROM ci_job_artifacts WHERE project_id IN (${projects})), 0)
    + coalesce((SELECT sum(t.size) FROM ci_jobs j JOIN ci_traces t ON t.job_id = j.id
      WHERE t.sha256 IS NOT NULL AND j.project_id IN (${projects})), 0)`
}

/** Bytes of the wikis, of all snippets and of job artifacts of projects. */
export async function sumProjectSizes(db: Db, projectIds: readonly number[]) {
  if (projectIds.length === 0) return []
  const { rows } = await sql<SideSizesRow & { project_id: number }>`
    SELECT p.id AS project_id,
      coalesce((SELECT size FROM wiki_snippet_repositories WHERE project_id = p.id), 0) AS wiki,
      coalesce((SELECT sum(r.size) FROM snippets s JOIN wiki_snippet_repositories r ON r.snippet_id = s.id
        WHERE s.project_id = p.id), 0) AS snippets,
      ${sumArtifacts(sql`p.id`)} AS artifacts
    FROM projects p WHERE p.id IN (${sql.join(projectIds)})`.execute(db)
  return rows
}

/** The same for groups: their own wikis and those of groups and projects below them. */
export async function sumGroupSizes(db: Db, groupIds: readonly number[]) {
  if (groupIds.length === 0) return []
  const below = sql`SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = g.id`
  const projects = sql`SELECT id FROM projects WHERE pending_delete = 0 AND namespace_id IN (${below})`
  const { rows } = await sql<SideSizesRow & { group_id: number }>`
    SELECT g.id AS group_id,
      coalesce((SELECT sum(size) FROM wiki_snippet_repositories WHERE group_id IN (${below})), 0)
        + coalesce((SELECT sum(size) FROM wiki_snippet_repositories WHERE project_id IN (${projects})), 0) AS wiki,
      coalesce((SELECT sum(r.size) FROM snippets s JOIN wiki_snippet_repositories r ON r.snippet_id = s.id
        WHERE s.project_id IN (${projects})), 0) AS snippets,
      ${sumArtifacts(projects)} AS artifacts
    FROM namespaces g WHERE g.id IN (${sql.join(groupIds)})`.execute(db)
  return rows
}

/** Bytes of the large files of projects, by project. */
export async function sumLfsObjects(
  db: Db,
  projectIds: readonly number[],
): Promise<Map<number, number>> {
  if (projectIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('lfs_objects')
    .select(['project_id', (is) => is.fn.sum<number>('size').as('bytes')])
    .where('project_id', 'in', [...projectIds])
    .groupBy('project_id')
    .execute()
  return new Map(rows.map((row) => [row.project_id, row.bytes]))
}
