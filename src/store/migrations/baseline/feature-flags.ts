export const featureFlagsTables = `
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

CREATE TABLE feature_flag_user_lists (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  iid INTEGER NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  user_xids TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX feature_flag_user_lists_iid ON feature_flag_user_lists (project_id, iid);
CREATE UNIQUE INDEX feature_flag_user_lists_name ON feature_flag_user_lists (project_id, name);

CREATE TABLE feature_flags (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  iid INTEGER NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX feature_flags_name ON feature_flags (project_id, name);

CREATE TABLE feature_flag_strategies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  feature_flag_id INTEGER NOT NULL REFERENCES feature_flags (id) ON DELETE CASCADE,
  name TEXT NOT NULL CHECK (name IN
    ('default', 'gradualRolloutUserId', 'userWithId', 'gitlabUserList', 'flexibleRollout')),
  parameters TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(parameters)),
  user_list_id INTEGER REFERENCES feature_flag_user_lists (id) ON DELETE SET NULL
) STRICT;
CREATE INDEX feature_flag_strategies_flag ON feature_flag_strategies (feature_flag_id);
CREATE INDEX feature_flag_strategies_list ON feature_flag_strategies (user_list_id);

CREATE TABLE feature_flag_scopes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  strategy_id INTEGER NOT NULL REFERENCES feature_flag_strategies (id) ON DELETE CASCADE,
  environment_scope TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX feature_flag_scopes_scope ON feature_flag_scopes (strategy_id, environment_scope);

CREATE TABLE feature_flag_clients (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  sealed_token TEXT NOT NULL,
  token_digest BLOB NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
`
