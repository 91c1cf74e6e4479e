import type { Migration } from '../migration.ts'

/** What decides which runners a waiting job fits is looked up once for all jobs that have it in common. */
export const kindsOfWaitingJobs: Migration = {
  name: '0301-kinds-of-waiting-jobs',
  sql: `
DROP INDEX ci_pending_jobs_project;
CREATE INDEX ci_pending_jobs_kind ON ci_pending_jobs (project_id, protected, tags, job_id);
`,
}
