import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../store/schema.ts'
import type { Sizes } from './sizes.ts'

/** The SQL for the bytes of what jobs left in projects: their files, and their logs once these lie in the store. */
export function sumArtifacts(projects: RawBuilder<unknown>) {
  return sql<number>`coalesce((SELECT sum(size) FROM ci_job_artifacts WHERE project_id IN (${projects})), 0)
    + coalesce((SELECT sum(t.size) FROM ci_jobs j JOIN ci_traces t ON t.job_id = j.id
      WHERE t.sha256 IS NOT NULL AND j.project_id IN (${projects})), 0)`
}

export type ProjectSizes = Sizes & {
  /** Of container images; a layer that several images of a project share counts once. */
  readonly images: number
}

/** What takes room in projects, by project. */
export async function sumProjectSizes(
  db: Db,
  ids: readonly number[],
): Promise<Map<number, ProjectSizes>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<ProjectSizes & { id: number }>`
    SELECT p.id, p.repository_size AS repository,
      coalesce((SELECT size FROM wiki_snippet_repositories WHERE project_id = p.id), 0) AS wiki,
      coalesce((SELECT sum(r.size) FROM snippets s JOIN wiki_snippet_repositories r ON r.snippet_id = s.id
        WHERE s.project_id = p.id), 0) AS snippets,
      ${sumArtifacts(sql`p.id`)} AS artifacts,
      coalesce((SELECT sum(size) FROM uploads WHERE source_type = 'project' AND source_id = p.id), 0) AS uploads,
      coalesce((SELECT sum(size) FROM lfs_objects WHERE project_id = p.id), 0) AS lfs,
      coalesce((SELECT sum(size) FROM package_files WHERE project_id = p.id), 0) AS packages,
      coalesce((SELECT sum(size) FROM (SELECT DISTINCT b.file_sha256, b.size FROM container_blobs b
        JOIN container_repositories r ON r.id = b.repository_id WHERE r.project_id = p.id)), 0) AS images
    FROM projects p WHERE p.id IN (${sql.join(ids)})`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

/** The same in groups with all groups and projects below them, by group. */
export async function sumGroupSizes(db: Db, ids: readonly number[]): Promise<Map<number, Sizes>> {
  if (ids.length === 0) return new Map()
  const below = sql`SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = g.id`
  const projects = sql`SELECT id FROM projects WHERE pending_delete = 0 AND namespace_id IN (${below})`
  const { rows } = await sql<Sizes & { id: number }>`
    SELECT g.id,
      coalesce((SELECT sum(repository_size) FROM projects WHERE id IN (${projects})), 0) AS repository,
      coalesce((SELECT sum(size) FROM wiki_snippet_repositories WHERE group_id IN (${below})), 0)
        + coalesce((SELECT sum(size) FROM wiki_snippet_repositories WHERE project_id IN (${projects})), 0) AS wiki,
      coalesce((SELECT sum(r.size) FROM snippets s JOIN wiki_snippet_repositories r ON r.snippet_id = s.id
        WHERE s.project_id IN (${projects})), 0) AS snippets,
      ${sumArtifacts(projects)} AS artifacts,
      coalesce((SELECT sum(size) FROM uploads
        WHERE source_type = 'project' AND source_id IN (${projects})), 0) AS uploads,
      coalesce((SELECT sum(size) FROM lfs_objects WHERE project_id IN (${projects})), 0) AS lfs,
      coalesce((SELECT sum(size) FROM package_files WHERE project_id IN (${projects})), 0) AS packages
    FROM namespaces g WHERE g.id IN (${sql.join(ids)})`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}
