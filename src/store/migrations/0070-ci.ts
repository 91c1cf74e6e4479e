import type { Migration } from '../migration.ts'

const statuses = `'created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'success', 'failed',
    'canceling', 'canceled', 'skipped', 'manual', 'scheduled'`

/** Pipelines that run: their stages, jobs, variables and test reports. */
export const ci: Migration = {
  name: '0070-ci',
  sql: `
ALTER TABLE pipelines ADD COLUMN before_sha TEXT;
ALTER TABLE pipelines ADD COLUMN yaml_errors TEXT;
ALTER TABLE pipelines ADD COLUMN protected INTEGER NOT NULL DEFAULT 0 CHECK (protected IN (0, 1));
CREATE INDEX pipelines_project ON pipelines (project_id, id);

CREATE TABLE ci_stages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  pipeline_id INTEGER NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  position INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX ci_stages_position_key ON ci_stages (pipeline_id, position);

CREATE TABLE ci_jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  pipeline_id INTEGER NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
  stage_id INTEGER NOT NULL REFERENCES ci_stages (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('build', 'bridge')),
  name TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'created' CHECK (status IN (${statuses})),
  run_when TEXT NOT NULL
    CHECK (run_when IN ('on_success', 'on_failure', 'always', 'manual', 'delayed')),
  start_in INTEGER,
  scheduled_at TEXT,
  allow_failure INTEGER NOT NULL DEFAULT 0 CHECK (allow_failure IN (0, 1)),
  retried INTEGER NOT NULL DEFAULT 0 CHECK (retried IN (0, 1)),
  uses_needs INTEGER NOT NULL DEFAULT 0 CHECK (uses_needs IN (0, 1)),
  tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
  options TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(options)),
  yaml_variables TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(yaml_variables)),
  sealed_variables TEXT,
  environment TEXT CHECK (environment IS NULL OR json_valid(environment)),
  resource_group TEXT,
  interruptible INTEGER NOT NULL DEFAULT 0 CHECK (interruptible IN (0, 1)),
  coverage_regex TEXT,
  coverage REAL,
  timeout INTEGER,
  node_index INTEGER,
  node_total INTEGER,
  user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  failure_reason TEXT,
  queued_at TEXT,
  started_at TEXT,
  finished_at TEXT,
  erased_at TEXT,
  artifacts_expire_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX ci_jobs_pipeline ON ci_jobs (pipeline_id, id);
CREATE INDEX ci_jobs_stage ON ci_jobs (stage_id);
CREATE INDEX ci_jobs_project ON ci_jobs (project_id, id);
CREATE INDEX ci_jobs_waiting ON ci_jobs (status, id) WHERE status IN ('pending', 'running', 'canceling');
CREATE INDEX ci_jobs_resource_group ON ci_jobs (project_id, resource_group)
  WHERE resource_group IS NOT NULL;
CREATE INDEX ci_jobs_user ON ci_jobs (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE ci_job_needs (
  job_id INTEGER NOT NULL REFERENCES ci_jobs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  artifacts INTEGER NOT NULL DEFAULT 1 CHECK (artifacts IN (0, 1)),
  PRIMARY KEY (job_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE pipeline_variables (
  pipeline_id INTEGER NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  sealed_value TEXT NOT NULL,
  variable_type TEXT NOT NULL DEFAULT 'env_var' CHECK (variable_type IN ('env_var', 'file')),
  raw INTEGER NOT NULL DEFAULT 0 CHECK (raw IN (0, 1)),
  PRIMARY KEY (pipeline_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE pipeline_sources (
  pipeline_id INTEGER PRIMARY KEY REFERENCES pipelines (id) ON DELETE CASCADE,
  job_id INTEGER NOT NULL REFERENCES ci_jobs (id) ON DELETE CASCADE,
  depends INTEGER NOT NULL DEFAULT 0 CHECK (depends IN (0, 1))
) STRICT;
CREATE INDEX pipeline_sources_job ON pipeline_sources (job_id);

CREATE TABLE ci_test_suites (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id INTEGER NOT NULL REFERENCES ci_jobs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  total_time REAL NOT NULL DEFAULT 0,
  success_count INTEGER NOT NULL DEFAULT 0,
  failed_count INTEGER NOT NULL DEFAULT 0,
  skipped_count INTEGER NOT NULL DEFAULT 0,
  error_count INTEGER NOT NULL DEFAULT 0,
  suite_error TEXT,
  cases TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(cases))
) STRICT;
CREATE INDEX ci_test_suites_job ON ci_test_suites (job_id);
`,
}
