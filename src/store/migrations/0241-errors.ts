import type { Migration } from '../migration.ts'

/** Errors that programs report: who may report, what was reported, and a bounded part of the reports themselves. */
export const errors: Migration = {
  name: '0241-errors',
  sql: `
CREATE TABLE error_tracking_settings (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  integrated INTEGER NOT NULL CHECK (integrated IN (0, 1))
) STRICT;

CREATE TABLE error_client_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  public_key TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX error_client_keys_key ON error_client_keys (public_key);
CREATE INDEX error_client_keys_by_project ON error_client_keys (project_id, id);

CREATE TABLE errors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  actor TEXT NOT NULL,
  platform TEXT NOT NULL,
  description TEXT NOT NULL,
  status INTEGER NOT NULL DEFAULT 0 CHECK (status BETWEEN 0 AND 2),
  level TEXT,
  logger TEXT,
  events INTEGER NOT NULL,
  users INTEGER NOT NULL,
  first_seen TEXT NOT NULL,
  last_seen TEXT NOT NULL,
  first_release TEXT,
  last_release TEXT,
  stride INTEGER NOT NULL,
  issue_id INTEGER REFERENCES issues (id) ON DELETE SET NULL
) STRICT;
CREATE UNIQUE INDEX errors_key ON errors (project_id, name, actor, platform);
CREATE INDEX errors_by_last_seen ON errors (project_id, status, last_seen, id);
CREATE INDEX errors_by_first_seen ON errors (project_id, status, first_seen, id);
CREATE INDEX errors_by_events ON errors (project_id, status, events, id);
CREATE INDEX errors_by_issue ON errors (issue_id) WHERE issue_id IS NOT NULL;
CREATE INDEX errors_old ON errors (last_seen);

CREATE TABLE error_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  error_id INTEGER NOT NULL REFERENCES errors (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  kept INTEGER NOT NULL CHECK (kept IN (0, 1)),
  event_id TEXT NOT NULL,
  occurred_at TEXT NOT NULL,
  received_at TEXT NOT NULL,
  level TEXT,
  environment TEXT,
  release TEXT,
  description TEXT NOT NULL,
  payload BLOB NOT NULL
) STRICT;
CREATE INDEX error_events_by_error ON error_events (error_id, number);
CREATE INDEX error_events_old ON error_events (received_at);

CREATE TABLE error_users (
  error_id INTEGER NOT NULL REFERENCES errors (id) ON DELETE CASCADE,
  user_hash BLOB NOT NULL,
  PRIMARY KEY (error_id, user_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE error_places (
  error_id INTEGER NOT NULL REFERENCES errors (id) ON DELETE CASCADE,
  release TEXT NOT NULL,
  environment TEXT NOT NULL,
  events INTEGER NOT NULL,
  first_seen TEXT NOT NULL,
  last_seen TEXT NOT NULL,
  PRIMARY KEY (error_id, release, environment)
) STRICT, WITHOUT ROWID;

CREATE TABLE error_hours (
  error_id INTEGER NOT NULL REFERENCES errors (id) ON DELETE CASCADE,
  hour INTEGER NOT NULL,
  events INTEGER NOT NULL,
  PRIMARY KEY (error_id, hour)
) STRICT, WITHOUT ROWID;
`,
}
