export const ciStartsTables = `
CREATE TABLE ci_triggers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  owner_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  description TEXT NOT NULL,
  token_digest BLOB NOT NULL,
  sealed_token TEXT NOT NULL,
  token_start TEXT NOT NULL,
  expires_at TEXT,
  last_used_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX ci_triggers_token ON ci_triggers (token_digest);
CREATE INDEX ci_triggers_project ON ci_triggers (project_id);
CREATE INDEX ci_triggers_owner ON ci_triggers (owner_id);

CREATE TABLE ci_schedules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  owner_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  description TEXT NOT NULL,
  ref TEXT NOT NULL,
  cron TEXT NOT NULL,
  cron_timezone TEXT NOT NULL,
  active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  next_run_at TEXT,
  inputs TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(inputs)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX ci_schedules_project ON ci_schedules (project_id);
CREATE INDEX ci_schedules_owner ON ci_schedules (owner_id);
CREATE INDEX ci_schedules_due ON ci_schedules (next_run_at) WHERE active = 1;

CREATE TABLE ci_schedule_variables (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  schedule_id INTEGER NOT NULL REFERENCES ci_schedules (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  sealed_value TEXT NOT NULL,
  variable_type TEXT NOT NULL DEFAULT 'env_var' CHECK (variable_type IN ('env_var', 'file')),
  raw INTEGER NOT NULL DEFAULT 0 CHECK (raw IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX ci_schedule_variables_key ON ci_schedule_variables (schedule_id, key);

CREATE TABLE ci_schedule_plays (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  schedule_id INTEGER NOT NULL REFERENCES ci_schedules (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX ci_schedule_plays_schedule ON ci_schedule_plays (schedule_id);
`
