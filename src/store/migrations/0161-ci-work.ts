import type { Migration } from '../migration.ts'

/** Jobs that wait for a runner and jobs that one has, and what they leave: logs, artifacts, variables for later jobs. */
export const ciWork: Migration = {
  name: '0161-ci-work',
  sql: `
ALTER TABLE ci_jobs ADD COLUMN runner_id INTEGER REFERENCES ci_runners (id) ON DELETE SET NULL;
ALTER TABLE ci_jobs ADD COLUMN runner_manager_id INTEGER
  REFERENCES ci_runner_managers (id) ON DELETE SET NULL;
ALTER TABLE ci_jobs ADD COLUMN exit_code INTEGER;
ALTER TABLE ci_jobs ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
CREATE INDEX ci_jobs_runner ON ci_jobs (runner_id, id) WHERE runner_id IS NOT NULL;
CREATE INDEX ci_jobs_runner_manager ON ci_jobs (runner_manager_id)
  WHERE runner_manager_id IS NOT NULL;

CREATE TABLE ci_pending_jobs (
  job_id INTEGER PRIMARY KEY REFERENCES ci_jobs (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  tags TEXT NOT NULL CHECK (json_valid(tags)),
  protected INTEGER NOT NULL CHECK (protected IN (0, 1)),
  queued_at TEXT NOT NULL
) STRICT;
CREATE INDEX ci_pending_jobs_project ON ci_pending_jobs (project_id, job_id);
CREATE INDEX ci_pending_jobs_queued ON ci_pending_jobs (queued_at);

CREATE TABLE ci_running_jobs (
  job_id INTEGER PRIMARY KEY REFERENCES ci_jobs (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  runner_id INTEGER NOT NULL REFERENCES ci_runners (id) ON DELETE CASCADE,
  runner_type TEXT NOT NULL CHECK (runner_type IN ('instance_type', 'group_type', 'project_type')),
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  token_digest BLOB NOT NULL,
  can_cancel INTEGER NOT NULL DEFAULT 0 CHECK (can_cancel IN (0, 1)),
  accepted INTEGER NOT NULL DEFAULT 1 CHECK (accepted IN (0, 1)),
  sealed_masks TEXT NOT NULL,
  ends_at TEXT NOT NULL,
  contacted_at TEXT NOT NULL,
  unproven_since TEXT
) STRICT;
CREATE UNIQUE INDEX ci_running_jobs_token_key ON ci_running_jobs (token_digest);
CREATE INDEX ci_running_jobs_project ON ci_running_jobs (project_id);
CREATE INDEX ci_running_jobs_runner ON ci_running_jobs (runner_id);
CREATE INDEX ci_running_jobs_user ON ci_running_jobs (user_id);
CREATE INDEX ci_running_jobs_contacted ON ci_running_jobs (contacted_at);

CREATE TABLE ci_traces (
  job_id INTEGER PRIMARY KEY REFERENCES ci_jobs (id) ON DELETE CASCADE,
  size INTEGER NOT NULL DEFAULT 0,
  shown INTEGER NOT NULL DEFAULT 0,
  crc INTEGER,
  sha256 TEXT,
  debug INTEGER NOT NULL DEFAULT 0 CHECK (debug IN (0, 1)),
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX ci_traces_file ON ci_traces (sha256) WHERE sha256 IS NOT NULL;

CREATE TABLE ci_job_artifacts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id INTEGER NOT NULL REFERENCES ci_jobs (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  file_type TEXT NOT NULL,
  file_format TEXT NOT NULL CHECK (file_format IN ('zip', 'gzip', 'raw')),
  filename TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  access TEXT NOT NULL DEFAULT 'public'
    CHECK (access IN ('public', 'private', 'developer', 'maintainer', 'none')),
  expire_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX ci_job_artifacts_type_key ON ci_job_artifacts (job_id, file_type);
CREATE INDEX ci_job_artifacts_project ON ci_job_artifacts (project_id, id);
CREATE INDEX ci_job_artifacts_expiry ON ci_job_artifacts (expire_at) WHERE expire_at IS NOT NULL;
CREATE INDEX ci_job_artifacts_file ON ci_job_artifacts (sha256);

CREATE TABLE ci_job_variables (
  job_id INTEGER NOT NULL REFERENCES ci_jobs (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  sealed_value TEXT NOT NULL,
  PRIMARY KEY (job_id, key)
) STRICT, WITHOUT ROWID;
`,
}
