export const errorsTables = `
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
  issue_id INTEGER REFERENCES issues (id) ON DELETE SET NULL,
  resolved_at TEXT,
  bytes INTEGER NOT NULL DEFAULT 4096
) STRICT;
CREATE UNIQUE INDEX errors_key ON errors (project_id, name, actor, platform);
CREATE INDEX errors_by_last_seen ON errors (project_id, status, last_seen, id);
CREATE INDEX errors_by_first_seen ON errors (project_id, status, first_seen, id);
CREATE INDEX errors_by_events ON errors (project_id, status, events, id);
CREATE INDEX errors_by_issue ON errors (issue_id) WHERE issue_id IS NOT NULL;
CREATE INDEX errors_old ON errors (last_seen);

CREATE TRIGGER errors_inserted AFTER INSERT ON errors BEGIN
  INSERT INTO error_sizes (project_id, bytes) VALUES (new.project_id, new.bytes)
    ON CONFLICT (project_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER errors_resized AFTER UPDATE OF bytes ON errors BEGIN
  UPDATE error_sizes SET bytes = bytes + new.bytes - old.bytes WHERE project_id = new.project_id;
END;

CREATE TRIGGER errors_deleted AFTER DELETE ON errors BEGIN
  UPDATE error_sizes SET bytes = bytes - old.bytes WHERE project_id = old.project_id;
END;

CREATE TABLE error_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  error_id INTEGER NOT NULL REFERENCES errors (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  received_at TEXT NOT NULL,
  payload BLOB NOT NULL
) STRICT;
CREATE INDEX error_events_by_error ON error_events (error_id, number);
CREATE INDEX error_events_old ON error_events (received_at);

CREATE TRIGGER error_events_inserted AFTER INSERT ON error_events BEGIN
  UPDATE errors SET bytes = bytes + octet_length(new.payload) WHERE id = new.error_id;
END;

CREATE TRIGGER error_events_replaced AFTER UPDATE OF payload ON error_events BEGIN
  UPDATE errors SET bytes = bytes + octet_length(new.payload) - octet_length(old.payload)
    WHERE id = new.error_id;
END;

CREATE TRIGGER error_events_deleted AFTER DELETE ON error_events BEGIN
  UPDATE errors SET bytes = bytes - octet_length(old.payload) WHERE id = old.error_id;
END;

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

CREATE TABLE error_reports (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  received_at TEXT NOT NULL,
  event TEXT NOT NULL CHECK (json_valid(event)),
  payload BLOB NOT NULL
) STRICT;
CREATE INDEX error_reports_by_project ON error_reports (project_id, id);

CREATE TABLE error_event_ids (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  event_id TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX error_event_ids_key ON error_event_ids (project_id, event_id);
CREATE INDEX error_event_ids_by_project ON error_event_ids (project_id, id);

CREATE TABLE error_sizes (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  bytes INTEGER NOT NULL
) STRICT;
`
