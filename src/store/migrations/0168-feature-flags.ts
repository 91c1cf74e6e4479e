import type { Migration } from '../migration.ts'

/** Feature flags, for whom and where they are on, and lists of users. */
export const featureFlags: Migration = {
  name: '0168-feature-flags',
  sql: `
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
`,
}
