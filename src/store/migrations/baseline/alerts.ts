export const alertsTables = `
CREATE TABLE alert_integrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('http', 'prometheus')),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  endpoint_identifier TEXT NOT NULL,
  sealed_token TEXT NOT NULL,
  payload_example TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(payload_example)),
  payload_attribute_mappings TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(payload_attribute_mappings)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX alert_integrations_key ON alert_integrations (project_id, endpoint_identifier);

CREATE TABLE alerts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  iid INTEGER NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  description TEXT,
  severity INTEGER NOT NULL CHECK (severity BETWEEN 0 AND 5),
  status INTEGER NOT NULL DEFAULT 0 CHECK (status BETWEEN 0 AND 3),
  service TEXT,
  monitoring_tool TEXT,
  hosts TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(hosts)),
  fingerprint TEXT,
  started_at TEXT NOT NULL,
  ended_at TEXT,
  events INTEGER NOT NULL DEFAULT 1,
  environment TEXT,
  runbook TEXT,
  query TEXT,
  incident_markdown TEXT,
  issue_id INTEGER REFERENCES issues (id) ON DELETE SET NULL,
  assignee_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX alerts_by_iid ON alerts (project_id, iid);
CREATE UNIQUE INDEX alerts_open_fingerprint ON alerts (project_id, fingerprint)
  WHERE status <> 2 AND fingerprint IS NOT NULL;
CREATE INDEX alerts_by_started_at ON alerts (project_id, started_at, id);
CREATE INDEX alerts_by_status ON alerts (project_id, status, started_at, id);
CREATE INDEX alerts_by_issue ON alerts (issue_id) WHERE issue_id IS NOT NULL;
CREATE INDEX alerts_by_assignee ON alerts (assignee_id) WHERE assignee_id IS NOT NULL;

CREATE TRIGGER alerts_deleted AFTER DELETE ON alerts BEGIN
  DELETE FROM notes WHERE noteable_type = 'Alert' AND noteable_id = old.id;
  DELETE FROM todos WHERE target_type = 'Alert' AND target_id = old.id;
END;

CREATE TABLE alert_payloads (
  alert_id INTEGER PRIMARY KEY REFERENCES alerts (id) ON DELETE CASCADE,
  payload TEXT NOT NULL CHECK (json_valid(payload))
) STRICT;

CREATE TABLE alert_metric_images (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  alert_id INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  filename TEXT NOT NULL,
  image_file TEXT NOT NULL,
  size INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  secret TEXT NOT NULL,
  url TEXT,
  url_text TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX alert_metric_images_by_alert ON alert_metric_images (alert_id, id);

CREATE TABLE alert_follow_ups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  alert_id INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  action TEXT NOT NULL CHECK (action IN ('opened', 'repeated', 'recovered'))
) STRICT;
CREATE INDEX alert_follow_ups_by_project ON alert_follow_ups (project_id, id);
CREATE INDEX alert_follow_ups_by_alert ON alert_follow_ups (alert_id);

CREATE TABLE alert_mail_windows (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  until TEXT NOT NULL,
  opened INTEGER NOT NULL,
  recovered INTEGER NOT NULL,
  titles TEXT NOT NULL CHECK (json_valid(titles))
) STRICT;

CREATE TABLE incident_management_settings (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  create_issue INTEGER NOT NULL DEFAULT 0 CHECK (create_issue IN (0, 1)),
  send_email INTEGER NOT NULL DEFAULT 0 CHECK (send_email IN (0, 1)),
  auto_close_incident INTEGER NOT NULL DEFAULT 1 CHECK (auto_close_incident IN (0, 1)),
  issue_template_key TEXT,
  on_call_user_id INTEGER REFERENCES users (id) ON DELETE SET NULL
) STRICT;
CREATE INDEX incident_management_settings_on_call ON incident_management_settings (on_call_user_id)
  WHERE on_call_user_id IS NOT NULL;

CREATE TABLE incident_escalations (
  issue_id INTEGER PRIMARY KEY REFERENCES issues (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('triggered', 'acknowledged', 'resolved', 'ignored')),
  updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE incident_timeline_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  author_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  action TEXT NOT NULL,
  note TEXT NOT NULL,
  occurred_at TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX incident_timeline_events_by_issue ON incident_timeline_events (issue_id, occurred_at, id);
CREATE INDEX incident_timeline_events_by_author ON incident_timeline_events (author_id);
`
