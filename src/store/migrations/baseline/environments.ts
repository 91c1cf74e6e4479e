export const environmentsTables = `
CREATE TABLE protected_environments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  required_approval_count INTEGER NOT NULL DEFAULT 0 CHECK (required_approval_count >= 0),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((project_id IS NULL) <> (group_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX protected_environments_project_key ON protected_environments (project_id, name)
  WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX protected_environments_group_key ON protected_environments (group_id, name)
  WHERE group_id IS NOT NULL;

CREATE TABLE protected_environment_levels (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  protected_environment_id INTEGER NOT NULL
    REFERENCES protected_environments (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('deploy', 'approval')),
  access_level INTEGER CHECK (access_level IN (30, 40, 60)),
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  group_inheritance_type INTEGER NOT NULL DEFAULT 0 CHECK (group_inheritance_type IN (0, 1)),
  required_approvals INTEGER NOT NULL DEFAULT 1 CHECK (required_approvals >= 0),
  CHECK ((access_level IS NOT NULL) + (user_id IS NOT NULL) + (group_id IS NOT NULL) = 1)
) STRICT;
CREATE INDEX protected_environment_levels_of ON protected_environment_levels
  (protected_environment_id, id);
CREATE INDEX protected_environment_levels_user ON protected_environment_levels (user_id)
  WHERE user_id IS NOT NULL;
CREATE INDEX protected_environment_levels_group ON protected_environment_levels (group_id)
  WHERE group_id IS NOT NULL;

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

CREATE TABLE deployed_merge_requests (
  deployment_id INTEGER NOT NULL REFERENCES deployments (id) ON DELETE CASCADE,
  merge_request_id INTEGER NOT NULL REFERENCES merge_requests (id) ON DELETE CASCADE,
  PRIMARY KEY (merge_request_id, deployment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deployed_merge_requests_by_deployment ON deployed_merge_requests (deployment_id);
`
