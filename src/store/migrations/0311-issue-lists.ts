import type { Migration } from '../migration.ts'

/** What long lists of issues are ordered by, with what tells who sees an issue: none is looked up to be counted. */
export const issueLists: Migration = {
  name: '0311-issue-lists',
  sql: `
DROP INDEX issues_by_created;
DROP INDEX issues_by_updated;
CREATE INDEX issues_by_created ON issues (project_id, state, created_at, id, confidential, author_id);
CREATE INDEX issues_by_age ON issues (project_id, created_at, id, confidential, author_id);
CREATE INDEX issues_by_updated ON issues (project_id, updated_at, id, confidential, author_id);
CREATE INDEX issues_of_all ON issues (created_at, id);
CREATE INDEX issues_of_all_by_change ON issues (updated_at, id);
`,
}
