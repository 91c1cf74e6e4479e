export const virtualRegistriesTables = `
CREATE TABLE virtual_registries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_id INTEGER NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX virtual_registries_name_key ON virtual_registries (group_id, name);

CREATE TABLE virtual_upstreams (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_id INTEGER NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
  url TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  username TEXT,
  sealed_password TEXT,
  cache_validity_hours INTEGER NOT NULL CHECK (cache_validity_hours >= 0),
  metadata_cache_validity_hours INTEGER NOT NULL CHECK (metadata_cache_validity_hours >= 1),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((username IS NULL) = (sealed_password IS NULL))
) STRICT;
CREATE INDEX virtual_upstreams_group ON virtual_upstreams (group_id, id);

CREATE TABLE virtual_registry_upstreams (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  registry_id INTEGER NOT NULL REFERENCES virtual_registries (id) ON DELETE CASCADE,
  upstream_id INTEGER NOT NULL REFERENCES virtual_upstreams (id) ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK (position BETWEEN 1 AND 20)
) STRICT;
CREATE UNIQUE INDEX virtual_registry_upstreams_key
  ON virtual_registry_upstreams (registry_id, upstream_id);
CREATE INDEX virtual_registry_upstreams_upstream ON virtual_registry_upstreams (upstream_id);

CREATE TABLE virtual_cache_entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  upstream_id INTEGER NOT NULL REFERENCES virtual_upstreams (id) ON DELETE CASCADE,
  relative_path TEXT NOT NULL,
  file_sha256 TEXT NOT NULL CHECK (length(file_sha256) = 64),
  file_sha1 TEXT NOT NULL,
  file_md5 TEXT NOT NULL,
  size INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  upstream_etag TEXT,
  upstream_checked_at TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX virtual_cache_entries_key ON virtual_cache_entries (upstream_id, relative_path);
CREATE INDEX virtual_cache_entries_file_sha256 ON virtual_cache_entries (file_sha256);

CREATE TRIGGER virtual_cache_entries_inserted AFTER INSERT ON virtual_cache_entries BEGIN
  UPDATE virtual_cache_size SET bytes = bytes + new.size;
END;

CREATE TRIGGER virtual_cache_entries_resized AFTER UPDATE OF size ON virtual_cache_entries BEGIN
  UPDATE virtual_cache_size SET bytes = bytes + new.size - old.size;
END;

CREATE TRIGGER virtual_cache_entries_deleted AFTER DELETE ON virtual_cache_entries BEGIN
  UPDATE virtual_cache_size SET bytes = bytes - old.size;
END;

CREATE TABLE virtual_cache_downloads (
  entry_id INTEGER PRIMARY KEY REFERENCES virtual_cache_entries (id) ON DELETE CASCADE,
  downloads_count INTEGER NOT NULL,
  downloaded_at TEXT NOT NULL
) STRICT;

CREATE TABLE virtual_cleanup_policies (
  group_id INTEGER PRIMARY KEY REFERENCES namespaces (id) ON DELETE CASCADE,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  cadence INTEGER NOT NULL,
  keep_n_days_after_download INTEGER NOT NULL,
  notify_on_success INTEGER NOT NULL CHECK (notify_on_success IN (0, 1)),
  notify_on_failure INTEGER NOT NULL CHECK (notify_on_failure IN (0, 1)),
  last_run_at TEXT,
  next_run_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX virtual_cleanup_policies_due ON virtual_cleanup_policies (next_run_at);

CREATE TABLE virtual_cache_size (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  bytes INTEGER NOT NULL
) STRICT;

INSERT INTO virtual_cache_size (id, bytes) VALUES (1, 0);
`
