export const packagesTables = `
CREATE TABLE packages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  package_type TEXT NOT NULL CHECK (package_type IN ('composer', 'conan', 'generic', 'golang', 'helm',
    'maven', 'npm', 'nuget', 'pypi', 'terraform_module')),
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  version TEXT,
  version_key TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'default' CHECK (status IN ('default', 'hidden', 'processing', 'error',
    'pending_destruction', 'deprecated')),
  status_message TEXT,
  creator_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX packages_key ON packages (project_id, package_type, name_key, version_key)
  WHERE status <> 'pending_destruction';
CREATE INDEX packages_by_name_key ON packages (package_type, name_key);
CREATE INDEX packages_by_created_at ON packages (project_id, created_at, id);
CREATE INDEX packages_by_name ON packages (project_id, name, id);
CREATE INDEX packages_by_version ON packages (project_id, version, id);
CREATE INDEX packages_by_type ON packages (project_id, package_type, id);
CREATE INDEX packages_pending ON packages (id) WHERE status = 'pending_destruction';
CREATE INDEX packages_creator ON packages (creator_id);

CREATE TABLE package_metadata (
  package_id INTEGER PRIMARY KEY REFERENCES packages (id) ON DELETE CASCADE,
  content TEXT NOT NULL CHECK (json_valid(content))
) STRICT;

CREATE TABLE package_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  package_id INTEGER NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
  file_name TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  file_sha256 TEXT NOT NULL CHECK (length(file_sha256) = 64),
  file_sha1 TEXT NOT NULL,
  file_md5 TEXT NOT NULL,
  file_sha512 TEXT,
  status TEXT NOT NULL DEFAULT 'default' CHECK (status IN ('default', 'pending_destruction')),
  metadata TEXT CHECK (metadata IS NULL OR json_valid(metadata)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX package_files_by_package ON package_files (package_id, file_name, id);
CREATE INDEX package_files_by_project ON package_files (project_id, size);
CREATE INDEX package_files_sha256 ON package_files (file_sha256);

CREATE TABLE package_tags (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  package_id INTEGER NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX package_tags_key ON package_tags (package_id, name);

CREATE TABLE package_pipelines (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  package_id INTEGER NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
  pipeline_id INTEGER NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX package_pipelines_key ON package_pipelines (package_id, pipeline_id);
CREATE INDEX package_pipelines_pipeline ON package_pipelines (pipeline_id);

CREATE TABLE package_file_pipelines (
  package_file_id INTEGER NOT NULL REFERENCES package_files (id) ON DELETE CASCADE,
  pipeline_id INTEGER NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
  PRIMARY KEY (package_file_id, pipeline_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX package_file_pipelines_pipeline ON package_file_pipelines (pipeline_id);

CREATE TABLE package_downloads (
  package_id INTEGER PRIMARY KEY REFERENCES packages (id) ON DELETE CASCADE,
  last_downloaded_at TEXT NOT NULL
) STRICT;

CREATE TABLE package_documents (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  package_type TEXT NOT NULL,
  name_key TEXT NOT NULL,
  form TEXT NOT NULL,
  build TEXT NOT NULL,
  etag TEXT,
  content BLOB,
  PRIMARY KEY (project_id, package_type, name_key, form)
) STRICT;

CREATE TABLE package_protection_rules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  package_name_pattern TEXT NOT NULL,
  package_type TEXT NOT NULL,
  minimum_access_level_for_push INTEGER,
  minimum_access_level_for_delete INTEGER,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK (minimum_access_level_for_push IS NOT NULL OR minimum_access_level_for_delete IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX package_protection_rules_key
  ON package_protection_rules (project_id, package_type, package_name_pattern);

CREATE TABLE package_settings (
  namespace_id INTEGER PRIMARY KEY REFERENCES namespaces (id) ON DELETE CASCADE,
  settings TEXT NOT NULL CHECK (json_valid(settings))
) STRICT;

CREATE TABLE package_cleanup_policies (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  keep_n_duplicated_package_files TEXT NOT NULL DEFAULT 'all',
  next_run_at TEXT
) STRICT;
CREATE INDEX package_cleanup_policies_due ON package_cleanup_policies (next_run_at);

CREATE TABLE forwarded_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  package_type TEXT NOT NULL,
  root TEXT NOT NULL,
  path TEXT NOT NULL,
  file_sha256 TEXT NOT NULL CHECK (length(file_sha256) = 64),
  file_sha1 TEXT NOT NULL,
  file_md5 TEXT NOT NULL,
  size INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  upstream_etag TEXT,
  upstream_checked_at TEXT NOT NULL,
  used_at TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX forwarded_files_key ON forwarded_files (path, package_type, root);
CREATE INDEX forwarded_files_used ON forwarded_files (used_at, size);
CREATE INDEX forwarded_files_file_sha256 ON forwarded_files (file_sha256);
`
