import type { Migration } from '../migration.ts'

/** What long lists of merge requests are ordered and filtered by. */
export const requestLists: Migration = {
  name: '0086-request-lists',
  sql: `
CREATE INDEX merge_requests_by_merged ON merge_requests (target_project_id, merged_at, id);
CREATE INDEX merge_requests_by_title ON merge_requests (target_project_id, title, id);
CREATE INDEX merge_requests_by_branch ON merge_requests (source_branch, id);
CREATE INDEX merge_requests_drafts ON merge_requests (target_project_id, created_at, id) WHERE draft = 1;
CREATE INDEX merge_requests_of_all_by_change ON merge_requests (updated_at, id);
`,
}
