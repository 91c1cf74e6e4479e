import type { Migration } from '../migration.ts'

/**
 * Jobs and pipelines of a project are listed by status. The conditions keep these indexes to such lists: where a query
 * names a ref or a pipeline too, SQLite knows no better than to take the newest index that fits.
 */
export const statusLists: Migration = {
  name: '0300-status-lists',
  sql: `
CREATE INDEX ci_jobs_status ON ci_jobs (project_id, status, id) WHERE kind = 'build';
CREATE INDEX pipelines_status ON pipelines (project_id, status, id) WHERE status <> '';
`,
}
