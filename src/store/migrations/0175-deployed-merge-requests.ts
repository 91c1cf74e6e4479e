import type { Migration } from '../migration.ts'

/** Which merge requests came with a deployment, found in the history once it has succeeded. */
export const deployedMergeRequests: Migration = {
  name: '0175-deployed-merge-requests',
  sql: `
CREATE TABLE deployed_merge_requests (
  deployment_id INTEGER NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  merge_request_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  PRIMARY KEY (merge_request_id, deployment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deployed_merge_requests_by_deployment ON deployed_merge_requests (deployment_id);
`,
}
