export const lfsTables = `
CREATE TABLE lfs_objects (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  oid TEXT NOT NULL CHECK (length(oid) = 64),
  size INTEGER NOT NULL CHECK (size >= 0),
  created_at TEXT NOT NULL,
  PRIMARY KEY (project_id, oid)
) STRICT, WITHOUT ROWID;
CREATE INDEX lfs_objects_oid ON lfs_objects (oid);

CREATE TABLE lfs_locks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX lfs_locks_path ON lfs_locks (project_id, path);
CREATE INDEX lfs_locks_user ON lfs_locks (user_id);
`
