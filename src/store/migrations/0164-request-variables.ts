import type { Migration } from '../migration.ts'

/** What the jobs of a pipeline learn of its merge request, as it was when the pipeline was made. */
export const requestVariables: Migration = {
  name: '0164-request-variables',
  sql: `
ALTER TABLE pipelines ADD COLUMN request_variables TEXT NOT NULL DEFAULT '{}'
  CHECK (json_valid(request_variables));
`,
}
