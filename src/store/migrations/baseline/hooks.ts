export const hooksTables = `
CREATE TABLE webhooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('project', 'group', 'system')),
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  uuid TEXT NOT NULL,
  name TEXT,
  description TEXT,
  sealed_url TEXT NOT NULL,
  sealed_token TEXT,
  sealed_headers TEXT,
  sealed_variables TEXT,
  events TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(events)),
  push_events_branch_filter TEXT,
  branch_filter_strategy TEXT NOT NULL DEFAULT 'wildcard'
    CHECK (branch_filter_strategy IN ('wildcard', 'regex', 'all_branches')),
  enable_ssl_verification INTEGER NOT NULL DEFAULT 1 CHECK (enable_ssl_verification IN (0, 1)),
  custom_webhook_template TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  disabled_until TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((kind = 'project') = (project_id IS NOT NULL)),
  CHECK ((kind = 'group') = (group_id IS NOT NULL))
) STRICT;
CREATE INDEX webhooks_project ON webhooks (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX webhooks_group ON webhooks (group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX webhooks_system ON webhooks (id) WHERE kind = 'system';

CREATE TABLE webhook_deliveries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  trigger TEXT NOT NULL,
  header TEXT NOT NULL,
  event_uuid TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done')),
  attempts INTEGER NOT NULL DEFAULT 0,
  url TEXT,
  request_headers TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(request_headers)),
  response_status TEXT,
  response_headers TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(response_headers)),
  response_body TEXT,
  execution_duration REAL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX webhook_deliveries_of ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_by_date ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_uuid);

CREATE TABLE notified_statuses (
  kind TEXT NOT NULL CHECK (kind IN ('pipeline', 'job')),
  id INTEGER NOT NULL,
  pipeline_id INTEGER NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notified_statuses_by_pipeline ON notified_statuses (pipeline_id);
`
