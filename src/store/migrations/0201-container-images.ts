import type { Migration } from '../migration.ts'

/** What images are made of: blobs, manifests and what those name, and uploads that go on. */
export const containerImages: Migration = {
  name: '0201-container-images',
  sql: `
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

CREATE INDEX container_tags_digest ON container_tags (repository_id, digest);
`,
}
