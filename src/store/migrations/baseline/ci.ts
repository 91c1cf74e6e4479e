export const ciTables = `
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
  status TEXT NOT NULL DEFAULT 'created' CHECK (status IN ('created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'success', 'failed',
    'canceling', 'canceled', 'skipped', 'manual', 'scheduled')),
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
  updated_at TEXT NOT NULL,
  runner_id INTEGER REFERENCES ci_runners (id) ON DELETE SET NULL,
  runner_manager_id INTEGER
  REFERENCES ci_runner_managers (id) ON DELETE SET NULL,
  exit_code INTEGER,
  retries INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX ci_jobs_pipeline ON ci_jobs (pipeline_id, id);
CREATE INDEX ci_jobs_stage ON ci_jobs (stage_id);
CREATE INDEX ci_jobs_project ON ci_jobs (project_id, id);
CREATE INDEX ci_jobs_waiting ON ci_jobs (status, id) WHERE status IN ('pending', 'running', 'canceling');
CREATE INDEX ci_jobs_resource_group ON ci_jobs (project_id, resource_group)
  WHERE resource_group IS NOT NULL;
CREATE INDEX ci_jobs_user ON ci_jobs (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX ci_jobs_runner ON ci_jobs (runner_id, id) WHERE runner_id IS NOT NULL;
CREATE INDEX ci_jobs_runner_manager ON ci_jobs (runner_manager_id)
  WHERE runner_manager_id IS NOT NULL;
CREATE INDEX ci_jobs_status ON ci_jobs (project_id, status, id) WHERE kind = 'build';

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

CREATE TABLE ci_pending_jobs (
  job_id INTEGER PRIMARY KEY REFERENCES ci_jobs (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  tags TEXT NOT NULL CHECK (json_valid(tags)),
  protected INTEGER NOT NULL CHECK (protected IN (0, 1)),
  queued_at TEXT NOT NULL
) STRICT;
CREATE INDEX ci_pending_jobs_queued ON ci_pending_jobs (queued_at);
CREATE INDEX ci_pending_jobs_kind ON ci_pending_jobs (project_id, protected, tags, job_id);

CREATE TABLE ci_running_jobs (
  job_id INTEGER PRIMARY KEY REFERENCES ci_jobs (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  runner_id INTEGER NOT NULL REFERENCES ci_runners (id) ON DELETE CASCADE,
  runner_type TEXT NOT NULL CHECK (runner_type IN ('instance_type', 'group_type', 'project_type')),
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  token_digest BLOB NOT NULL,
  can_cancel INTEGER NOT NULL DEFAULT 0 CHECK (can_cancel IN (0, 1)),
  accepted INTEGER NOT NULL DEFAULT 1 CHECK (accepted IN (0, 1)),
  sealed_masks TEXT NOT NULL,
  ends_at TEXT NOT NULL,
  contacted_at TEXT NOT NULL,
  unproven_since TEXT,
  foreign_sources TEXT NOT NULL DEFAULT '[]'
  CHECK (json_valid(foreign_sources))
) STRICT;
CREATE UNIQUE INDEX ci_running_jobs_token_key ON ci_running_jobs (token_digest);
CREATE INDEX ci_running_jobs_project ON ci_running_jobs (project_id);
CREATE INDEX ci_running_jobs_runner ON ci_running_jobs (runner_id);
CREATE INDEX ci_running_jobs_user ON ci_running_jobs (user_id);
CREATE INDEX ci_running_jobs_contacted ON ci_running_jobs (contacted_at);

CREATE TABLE ci_traces (
  job_id INTEGER PRIMARY KEY REFERENCES ci_jobs (id) ON DELETE CASCADE,
  size INTEGER NOT NULL DEFAULT 0,
  shown INTEGER NOT NULL DEFAULT 0,
  crc INTEGER,
  sha256 TEXT,
  debug INTEGER NOT NULL DEFAULT 0 CHECK (debug IN (0, 1)),
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX ci_traces_file ON ci_traces (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX ci_traces_stored ON ci_traces (updated_at) WHERE sha256 IS NOT NULL;

CREATE TABLE ci_job_artifacts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id INTEGER NOT NULL REFERENCES ci_jobs (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  file_type TEXT NOT NULL,
  file_format TEXT NOT NULL CHECK (file_format IN ('zip', 'gzip', 'raw')),
  filename TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  access TEXT NOT NULL DEFAULT 'public'
    CHECK (access IN ('public', 'private', 'developer', 'maintainer', 'none')),
  expire_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX ci_job_artifacts_type_key ON ci_job_artifacts (job_id, file_type);
CREATE INDEX ci_job_artifacts_project ON ci_job_artifacts (project_id, id);
CREATE INDEX ci_job_artifacts_expiry ON ci_job_artifacts (expire_at) WHERE expire_at IS NOT NULL;
CREATE INDEX ci_job_artifacts_file ON ci_job_artifacts (sha256);

CREATE TABLE ci_job_variables (
  job_id INTEGER NOT NULL REFERENCES ci_jobs (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  sealed_value TEXT NOT NULL,
  PRIMARY KEY (job_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE ci_variables (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  sealed_value TEXT NOT NULL,
  variable_type TEXT NOT NULL DEFAULT 'env_var' CHECK (variable_type IN ('env_var', 'file')),
  protected INTEGER NOT NULL DEFAULT 0 CHECK (protected IN (0, 1)),
  masked INTEGER NOT NULL DEFAULT 0 CHECK (masked IN (0, 1)),
  hidden INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
  raw INTEGER NOT NULL DEFAULT 0 CHECK (raw IN (0, 1)),
  environment_scope TEXT NOT NULL DEFAULT '*',
  description TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK (group_id IS NULL OR project_id IS NULL)
) STRICT;
CREATE UNIQUE INDEX ci_variables_key
  ON ci_variables (coalesce(group_id, 0), coalesce(project_id, 0), key, environment_scope);
CREATE INDEX ci_variables_group ON ci_variables (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX ci_variables_project ON ci_variables (project_id) WHERE project_id IS NOT NULL;

CREATE TABLE ci_secure_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  sealed_file TEXT NOT NULL,
  size INTEGER NOT NULL,
  metadata TEXT CHECK (metadata IS NULL OR json_valid(metadata)),
  expires_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX ci_secure_files_name ON ci_secure_files (project_id, name);
`
