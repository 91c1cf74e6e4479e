import { sql } from 'kysely'
import type { Watched } from '../../store/live/row-watch.ts'
import type { Db } from '../../store/schema.ts'

/** The newest pipeline of a commit and how it stands, or `none`. */
export type CommitState = { readonly pipeline: string }

/** The state of a commit whose newest pipeline is known. */
export function stateText(
  pipeline: { readonly id: number; readonly status: string } | null,
): string {
  return pipeline ? `${pipeline.id}-${pipeline.status}` : 'none'
}

/** The key of a commit that is watched. */
export function commitKey(projectId: number, sha: string): string {
  return JSON.stringify([projectId, sha])
}

async function readStates(
  db: Db,
  keys: readonly string[],
): Promise<ReadonlyMap<string, CommitState>> {
  const { rows } = await sql<{ readonly key: string; readonly pipeline: string | null }>`
    SELECT asked.value AS key,
      (SELECT id || '-' || status FROM pipelines
        WHERE project_id = json_extract(asked.value, '$[0]') AND sha = json_extract(asked.value, '$[1]')
          AND source <> 'parent_pipeline'
        ORDER BY id DESC LIMIT 1) AS pipeline
    FROM json_each(${`[${keys.join(',')}]`}) AS asked`.execute(db)
  return new Map(rows.map(({ key, pipeline }) => [key, { pipeline: pipeline ?? 'none' }]))
}

/** Commits whose pipelines somebody looks at. */
export const watchedCommits: Watched<string, CommitState> = {
  name: 'pipelines of commits',
  tables: ['pipelines'],
  read: readStates,
}
