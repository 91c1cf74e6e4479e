export const ciRunnersTables = `
CREATE TABLE ci_runners (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  runner_type TEXT NOT NULL CHECK (runner_type IN ('instance_type', 'group_type', 'project_type')),
  token_digest BLOB NOT NULL,
  token_start TEXT NOT NULL,
  token_expires_at TEXT,
  registration TEXT NOT NULL CHECK (registration IN ('registration_token', 'authenticated_user')),
  creator_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  description TEXT,
  maintenance_note TEXT,
  paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
  locked INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1)),
  run_untagged INTEGER NOT NULL DEFAULT 1 CHECK (run_untagged IN (0, 1)),
  access_level TEXT NOT NULL DEFAULT 'not_protected'
    CHECK (access_level IN ('not_protected', 'ref_protected')),
  maximum_timeout INTEGER,
  tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
  contacted_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((runner_type = 'group_type') = (group_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX ci_runners_token_key ON ci_runners (token_digest);
CREATE INDEX ci_runners_type ON ci_runners (runner_type, id);
CREATE INDEX ci_runners_group ON ci_runners (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX ci_runners_creator ON ci_runners (creator_id) WHERE creator_id IS NOT NULL;

CREATE TABLE ci_runner_projects (
  runner_id INTEGER NOT NULL REFERENCES ci_runners (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  owner INTEGER NOT NULL DEFAULT 0 CHECK (owner IN (0, 1)),
  PRIMARY KEY (runner_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ci_runner_projects_project ON ci_runner_projects (project_id);

CREATE TABLE ci_runner_managers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  runner_id INTEGER NOT NULL REFERENCES ci_runners (id) ON DELETE CASCADE,
  system_id TEXT NOT NULL,
  version TEXT,
  revision TEXT,
  platform TEXT,
  architecture TEXT,
  executor TEXT,
  ip_address TEXT,
  features TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(features)),
  contacted_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX ci_runner_managers_system_key ON ci_runner_managers (runner_id, system_id);

CREATE TABLE ci_registration_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  digest BLOB NOT NULL,
  sealed_token TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX ci_registration_tokens_digest_key ON ci_registration_tokens (digest);
CREATE UNIQUE INDEX ci_registration_tokens_place_key
  ON ci_registration_tokens (coalesce(group_id, 0), coalesce(project_id, 0));
CREATE INDEX ci_registration_tokens_project ON ci_registration_tokens (project_id);
CREATE INDEX ci_registration_tokens_group ON ci_registration_tokens (group_id);
`
