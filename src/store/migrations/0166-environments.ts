import type { Migration } from '../migration.ts'

/** Where jobs deploy to, what they deployed, who approved of it, and when nothing may be deployed. */
export const environments: Migration = {
  name: '0166-environments',
  sql: `
CREATE TABLE environments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  external_url TEXT,
  description TEXT,
  tier TEXT NOT NULL CHECK (tier IN ('production', 'staging', 'testing', 'development', 'other')),
  state TEXT NOT NULL DEFAULT 'available' CHECK (state IN ('available', 'stopping', 'stopped')),
  auto_stop_at TEXT,
  auto_stop_setting TEXT NOT NULL DEFAULT 'always' CHECK (auto_stop_setting IN ('always', 'with_action')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX environments_name ON environments (project_id, name);
CREATE UNIQUE INDEX environments_slug ON environments (project_id, slug);
CREATE INDEX environments_stop ON environments (auto_stop_at)
  WHERE auto_stop_at IS NOT NULL AND state = 'available';

CREATE TABLE deployments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  iid INTEGER NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment_id INTEGER NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
  job_id INTEGER REFERENCES ci_jobs (id) ON DELETE SET NULL,
  user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  ref TEXT NOT NULL,
  tag INTEGER NOT NULL DEFAULT 0 CHECK (tag IN (0, 1)),
  sha TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('created', 'running', 'success', 'failed', 'canceled', 'skipped', 'blocked')),
  on_stop TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  finished_at TEXT
) STRICT;
CREATE UNIQUE INDEX deployments_iid ON deployments (project_id, iid);
CREATE UNIQUE INDEX deployments_job ON deployments (job_id);
CREATE INDEX deployments_environment ON deployments (environment_id, id);
CREATE INDEX deployments_user ON deployments (user_id);

CREATE TABLE deployment_approvals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  deployment_id INTEGER NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('approved', 'rejected')),
  comment TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX deployment_approvals_user ON deployment_approvals (deployment_id, user_id);
CREATE INDEX deployment_approvals_by ON deployment_approvals (user_id);

CREATE TABLE ci_freeze_periods (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  freeze_start TEXT NOT NULL,
  freeze_end TEXT NOT NULL,
  cron_timezone TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX ci_freeze_periods_project ON ci_freeze_periods (project_id);

CREATE TABLE ci_resource_groups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  process_mode TEXT NOT NULL CHECK (process_mode IN
    ('unordered', 'oldest_first', 'newest_first', 'newest_ready_first')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX ci_resource_groups_key ON ci_resource_groups (project_id, key);
`,
}
