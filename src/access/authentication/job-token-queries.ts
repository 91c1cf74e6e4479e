import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../store/schema.ts'
import { userColumns } from './sign-in-queries.ts'

/** The running job of a token's digest, with the user whom it acts as. */
export async function findJobByDigest(db: Db, digest: Buffer) {
  return await db
    .selectFrom('ci_running_jobs')
    .innerJoin('users', 'users.id', 'ci_running_jobs.user_id')
    .select(['ci_running_jobs.job_id', 'ci_running_jobs.project_id'])
    .select(userColumns)
    .where('ci_running_jobs.token_digest', '=', digest)
    .executeTakeFirst()
}

/** Whether jobs of one project reach another: it is their own, or lists theirs, or lists nobody on purpose. */
export function isReachedByJobs(from: number, to: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${to} = ${from}
    OR EXISTS (SELECT 1 FROM ci_job_token_scopes WHERE project_id = ${to} AND inbound_enabled = 0)
    OR EXISTS (SELECT 1 FROM ci_job_token_allowed
      WHERE project_id = ${to} AND target_project_id = ${from})
    OR EXISTS (SELECT 1 FROM ci_job_token_allowed allowed
      JOIN projects p ON p.id = ${from}
      JOIN namespace_ancestors na ON na.namespace_id = p.namespace_id
        AND na.ancestor_id = allowed.target_group_id
      WHERE allowed.project_id = ${to}))`
}

/** Whether a project lets the jobs of another reach it. */
export async function isJobAllowed(
  db: Db,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<boolean> {
  const { rows } = await sql<{ found: number }>`
    SELECT 1 AS found WHERE ${isReachedByJobs(from, sql`${to}`)}`.execute(db)
  return rows.length > 0
}

/** Whether a project is in a group, or in one below it. */
export async function isInGroup(
  db: Db,
  { projectId, groupId }: { readonly projectId: number; readonly groupId: number },
): Promise<boolean> {
  const row = await db
    .selectFrom('projects')
    .innerJoin('namespace_ancestors as na', 'na.namespace_id', 'projects.namespace_id')
    .select('projects.id')
    .where('projects.id', '=', projectId)
    .where('na.ancestor_id', '=', groupId)
    .executeTakeFirst()
  return row !== undefined
}
