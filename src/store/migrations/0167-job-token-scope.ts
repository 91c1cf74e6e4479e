import type { Migration } from '../migration.ts'

/** Which other projects may reach a project with the tokens of their jobs. */
export const jobTokenScope: Migration = {
  name: '0167-job-token-scope',
  sql: `
CREATE TABLE ci_job_token_scopes (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  inbound_enabled INTEGER NOT NULL CHECK (inbound_enabled IN (0, 1))
) STRICT;

CREATE TABLE ci_job_token_allowed (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  target_project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  target_group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  added_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  CHECK ((target_project_id IS NULL) <> (target_group_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX ci_job_token_allowed_project ON ci_job_token_allowed (project_id, target_project_id)
  WHERE target_project_id IS NOT NULL;
CREATE UNIQUE INDEX ci_job_token_allowed_group ON ci_job_token_allowed (project_id, target_group_id)
  WHERE target_group_id IS NOT NULL;
CREATE INDEX ci_job_token_allowed_of ON ci_job_token_allowed (project_id);
CREATE INDEX ci_job_token_allowed_target ON ci_job_token_allowed (target_project_id);
CREATE INDEX ci_job_token_allowed_target_group ON ci_job_token_allowed (target_group_id);
CREATE INDEX ci_job_token_allowed_by ON ci_job_token_allowed (added_by_id);
`,
}
