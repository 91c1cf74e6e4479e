import { sql } from 'kysely'
import type { WikiOrSnippetName } from '../../git/repo-name.ts'
import type { Db } from '../../store/schema.ts'

export interface MeasuredProject {
  /** Of the repository, in bytes, as it was measured last. */
  readonly repository: number
  /** Of the large files, in bytes. */
  readonly lfs: number
  /** In mebibytes, of the nearest group that has a limit. */
  readonly groupLimit: number | null
}

/** What a project holds, and what the groups above it allow. */
export async function findMeasuredProject(
  db: Db,
  projectId: number,
): Promise<MeasuredProject | undefined> {
  const { rows } = await sql<MeasuredProject>`
    SELECT p.repository_size AS repository,
      coalesce((SELECT sum(size) FROM lfs_objects WHERE project_id = p.id), 0) AS lfs,
      (SELECT json_extract(n.settings, '$.repository_size_limit') FROM namespace_ancestors a
        JOIN namespaces n ON n.id = a.ancestor_id
        WHERE a.namespace_id = p.namespace_id
          AND json_extract(n.settings, '$.repository_size_limit') IS NOT NULL
        ORDER BY a.depth LIMIT 1) AS "groupLimit"
    FROM projects p WHERE p.id = ${projectId}`.execute(db)
  return rows[0]
}

/** In mebibytes: the limit of the project that a wiki or snippet belongs to, and of the nearest group that has one. */
export async function findSideLimits(
  db: Db,
  name: WikiOrSnippetName,
): Promise<{ readonly own: number | null; readonly group: number | null }> {
  const { rows } = await sql<{ own: number | null; group: number | null }>`
    SELECT json_extract(p.settings, '$.repository_size_limit') AS own,
      (SELECT json_extract(n.settings, '$.repository_size_limit') FROM namespace_ancestors a
        JOIN namespaces n ON n.id = a.ancestor_id
        WHERE a.namespace_id = coalesce(p.namespace_id, place.group_id)
          AND json_extract(n.settings, '$.repository_size_limit') IS NOT NULL
        ORDER BY a.depth LIMIT 1) AS "group"
    FROM (${placeOf(name)}) AS place LEFT JOIN projects p ON p.id = place.project_id`.execute(db)
  return rows[0] ?? { own: null, group: null }
}

function placeOf({ kind, id }: WikiOrSnippetName) {
  switch (kind) {
    case 'project_wiki':
      return sql`SELECT ${id} AS project_id, NULL AS group_id`
    case 'group_wiki':
      return sql`SELECT NULL AS project_id, ${id} AS group_id`
    case 'snippet':
      return sql`SELECT project_id, NULL AS group_id FROM snippets WHERE id = ${id}`
  }
}
