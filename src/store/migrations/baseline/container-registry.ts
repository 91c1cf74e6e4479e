export const containerRegistryTables = `
CREATE TABLE container_repositories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  status TEXT CHECK (status IN ('delete_scheduled', 'delete_failed', 'delete_ongoing')),
  cleanup_policy_started_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  bulk_deletion_at TEXT,
  tags_count INTEGER NOT NULL DEFAULT 0,
  tags_size INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX container_repositories_name_key ON container_repositories (project_id, name);

CREATE TABLE container_tags (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id INTEGER NOT NULL REFERENCES container_repositories (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  total_size INTEGER NOT NULL DEFAULT 0 CHECK (total_size >= 0),
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX container_tags_name_key ON container_tags (repository_id, name);
CREATE INDEX container_tags_digest ON container_tags (repository_id, digest);
CREATE INDEX container_tags_pushed ON container_tags (repository_id, created_at, id);

CREATE TRIGGER container_tags_inserted AFTER INSERT ON container_tags BEGIN
  UPDATE container_repositories SET tags_count = tags_count + 1, tags_size = tags_size + new.total_size
    WHERE id = new.repository_id;
END;

CREATE TRIGGER container_tags_deleted AFTER DELETE ON container_tags BEGIN
  UPDATE container_repositories SET tags_count = tags_count - 1, tags_size = tags_size - old.total_size
    WHERE id = old.repository_id;
END;

CREATE TRIGGER container_tags_moved AFTER UPDATE OF total_size ON container_tags BEGIN
  UPDATE container_repositories SET tags_size = tags_size + new.total_size - old.total_size
    WHERE id = new.repository_id;
END;

CREATE TABLE container_blobs (
  repository_id INTEGER NOT NULL REFERENCES container_repositories (id) ON DELETE CASCADE,
  file_sha256 TEXT NOT NULL CHECK (length(file_sha256) = 64),
  size INTEGER NOT NULL CHECK (size >= 0),
  created_at TEXT NOT NULL,
  PRIMARY KEY (repository_id, file_sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX container_blobs_file_sha256 ON container_blobs (file_sha256);

CREATE TABLE container_manifests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id INTEGER NOT NULL REFERENCES container_repositories (id) ON DELETE CASCADE,
  file_sha256 TEXT NOT NULL CHECK (length(file_sha256) = 64),
  media_type TEXT NOT NULL,
  artifact_type TEXT,
  subject_sha256 TEXT,
  annotations TEXT CHECK (annotations IS NULL OR json_valid(annotations)),
  size INTEGER NOT NULL,
  total_size INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX container_manifests_key ON container_manifests (repository_id, file_sha256);
CREATE INDEX container_manifests_subject ON container_manifests (repository_id, subject_sha256);
CREATE INDEX container_manifests_file_sha256 ON container_manifests (file_sha256);

CREATE TABLE container_references (
  manifest_id INTEGER NOT NULL REFERENCES container_manifests (id) ON DELETE CASCADE,
  repository_id INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (manifest_id, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX container_references_sha256 ON container_references (repository_id, sha256);

CREATE TABLE container_uploads (
  id TEXT PRIMARY KEY,
  repository_id INTEGER NOT NULL REFERENCES container_repositories (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX container_uploads_created_at ON container_uploads (created_at);
CREATE INDEX container_uploads_repository ON container_uploads (repository_id);

CREATE TABLE container_upload_chunks (
  upload_id TEXT NOT NULL REFERENCES container_uploads (id) ON DELETE CASCADE,
  start INTEGER NOT NULL,
  size INTEGER NOT NULL,
  file_sha256 TEXT NOT NULL,
  PRIMARY KEY (upload_id, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX container_upload_chunks_file_sha256 ON container_upload_chunks (file_sha256);

CREATE TABLE container_cleanup_runs (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  next_run_at TEXT NOT NULL
) STRICT;
CREATE INDEX container_cleanup_runs_next_run_at ON container_cleanup_runs (next_run_at);

CREATE TABLE container_tag_rules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  tag_name_pattern TEXT NOT NULL,
  minimum_access_level_for_push INTEGER NOT NULL,
  minimum_access_level_for_delete INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX container_tag_rules_pattern_key
  ON container_tag_rules (project_id, tag_name_pattern);
`
