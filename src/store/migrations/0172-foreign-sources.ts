import type { Migration } from '../migration.ts'

/** Which jobs of other pipelines and projects a running job may download artifacts from. */
export const foreignSources: Migration = {
  name: '0172-foreign-sources',
  sql: `
ALTER TABLE ci_running_jobs ADD COLUMN foreign_sources TEXT NOT NULL DEFAULT '[]'
  CHECK (json_valid(foreign_sources));
`,
}
