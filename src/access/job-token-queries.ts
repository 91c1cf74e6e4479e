import type { Db } from '../store/schema.ts'

/** The running job of a token's digest, with the user whom it acts as. */
export async function findJobByDigest(db: Db, digest: Buffer) {
  return await db
    .selectFrom('ci_running_jobs')
    .innerJoin('users', 'users.id', 'ci_running_jobs.user_id')
    .select(['ci_running_jobs.job_id', 'ci_running_jobs.project_id'])
    .select(['users.id', 'users.username', 'users.name', 'users.email', 'users.state'])
    .select(['users.kind', 'users.admin', 'users.external'])
    .where('ci_running_jobs.token_digest', '=', digest)
    .executeTakeFirst()
}
