export const commitsTables = `
CREATE TABLE pipelines (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  iid INTEGER NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  sha TEXT NOT NULL,
  ref TEXT NOT NULL,
  tag INTEGER NOT NULL DEFAULT 0 CHECK (tag IN (0, 1)),
  source TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'created' CHECK (status IN ('created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'success', 'failed',
    'canceling', 'canceled', 'skipped', 'manual', 'scheduled')),
  name TEXT,
  user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  started_at TEXT,
  finished_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  before_sha TEXT,
  yaml_errors TEXT,
  protected INTEGER NOT NULL DEFAULT 0 CHECK (protected IN (0, 1)),
  merge_request_id INTEGER
  REFERENCES merge_requests (id) ON DELETE SET NULL,
  merge_request_event TEXT
  CHECK (merge_request_event IN ('detached', 'merged_result')),
  source_sha TEXT,
  target_sha TEXT,
  on_new_commit TEXT NOT NULL DEFAULT 'conservative'
  CHECK (on_new_commit IN ('conservative', 'interruptible', 'none')),
  on_job_failure TEXT NOT NULL DEFAULT 'none'
  CHECK (on_job_failure IN ('none', 'all')),
  canceled_by_id INTEGER REFERENCES pipelines (id) ON DELETE SET NULL,
  request_variables TEXT NOT NULL DEFAULT '{}'
  CHECK (json_valid(request_variables)),
  schedule_id INTEGER REFERENCES ci_schedules (id) ON DELETE SET NULL,
  trigger_id INTEGER REFERENCES ci_triggers (id) ON DELETE SET NULL
) STRICT;
CREATE UNIQUE INDEX pipelines_iid_key ON pipelines (project_id, iid);
CREATE INDEX pipelines_sha ON pipelines (project_id, sha, id);
CREATE INDEX pipelines_ref ON pipelines (project_id, ref, id);
CREATE INDEX pipelines_user ON pipelines (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX pipelines_project ON pipelines (project_id, id);
CREATE INDEX pipelines_merge_request ON pipelines (merge_request_id, id)
  WHERE merge_request_id IS NOT NULL;
CREATE INDEX pipelines_canceled_by ON pipelines (canceled_by_id) WHERE canceled_by_id IS NOT NULL;
CREATE INDEX pipelines_active ON pipelines (project_id, ref)
  WHERE status IN ('created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'manual', 'scheduled');
CREATE INDEX pipelines_schedule ON pipelines (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX pipelines_trigger ON pipelines (trigger_id) WHERE trigger_id IS NOT NULL;
CREATE INDEX pipelines_status ON pipelines (project_id, status, id) WHERE status <> '';

CREATE TABLE commit_statuses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  pipeline_id INTEGER NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
  sha TEXT NOT NULL,
  ref TEXT NOT NULL,
  stage TEXT NOT NULL DEFAULT 'external',
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'success', 'failed',
    'canceling', 'canceled', 'skipped', 'manual', 'scheduled')),
  target_url TEXT,
  description TEXT,
  coverage REAL,
  allow_failure INTEGER NOT NULL DEFAULT 0 CHECK (allow_failure IN (0, 1)),
  failure_reason TEXT,
  retried INTEGER NOT NULL DEFAULT 0 CHECK (retried IN (0, 1)),
  user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  started_at TEXT,
  finished_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX commit_statuses_sha ON commit_statuses (project_id, sha, id);
CREATE INDEX commit_statuses_pipeline ON commit_statuses (pipeline_id, name, id);
CREATE INDEX commit_statuses_user ON commit_statuses (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE contributor_lines (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  commit_id TEXT NOT NULL,
  additions INTEGER NOT NULL,
  deletions INTEGER NOT NULL,
  PRIMARY KEY (project_id, commit_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE contributor_totals (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  tip TEXT NOT NULL,
  totals TEXT NOT NULL CHECK (json_valid(totals)),
  used_at TEXT NOT NULL,
  PRIMARY KEY (project_id, tip)
) STRICT, WITHOUT ROWID;
CREATE INDEX contributor_totals_used ON contributor_totals (project_id, used_at);
`
