import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

interface Introduced {
  readonly sha: string
  readonly iid: number
}

/** Merge requests of a project that made some of these commits by merging, oldest first. */
export async function listByMergeCommits(db: Db, projectId: number, shas: readonly string[]) {
  const wanted = sql<string>`(SELECT value FROM json_each(${JSON.stringify(shas)}))`
  return await db
    .selectFrom('merge_requests')
    .select(['iid', 'merge_commit_sha', 'squash_commit_sha', 'merged_sha'])
    .where('target_project_id', '=', projectId)
    .where('state', '=', 'merged')
    .where((is) =>
      is.or([
        is('merge_commit_sha', 'in', wanted),
        is('squash_commit_sha', 'in', wanted),
        is('merged_sha', 'in', wanted),
      ]),
    )
    .orderBy('id')
    .execute()
}

/** Merged merge requests of a project that brought these commits along, oldest first. */
export async function listByOwnCommits(
  db: Db,
  projectId: number,
  shas: readonly string[],
): Promise<Introduced[]> {
  const { rows } = await sql<Introduced>`
    SELECT own.sha AS sha, mr.iid AS iid
    FROM json_each(${JSON.stringify(shas)}) AS wanted
    JOIN merge_request_commits AS own ON own.sha = wanted.value
    JOIN merge_requests AS mr ON mr.id = own.merge_request_id
    WHERE mr.target_project_id = ${projectId} AND mr.state = 'merged'
    ORDER BY mr.id`.execute(db)
  return rows
}

/** The number of the merge request whose merge made this commit. */
export async function findByMergeCommit(
  db: Db,
  projectId: number,
  sha: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('merge_requests')
    .select('iid')
    .where('target_project_id', '=', projectId)
    .where('merge_commit_sha', '=', sha)
    .orderBy('id')
    .executeTakeFirst()
  return row?.iid
}
