export const mirrorsTables = `
CREATE TABLE remote_mirrors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  sealed_url TEXT NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 0 CHECK (enabled IN (0, 1)),
  only_protected_branches INTEGER NOT NULL DEFAULT 0 CHECK (only_protected_branches IN (0, 1)),
  keep_divergent_refs INTEGER NOT NULL DEFAULT 0 CHECK (keep_divergent_refs IN (0, 1)),
  mirror_branch_regex TEXT,
  update_status TEXT NOT NULL DEFAULT 'none'
    CHECK (update_status IN ('none', 'started', 'finished', 'to_retry', 'failed')),
  last_error TEXT,
  last_update_at TEXT,
  last_update_started_at TEXT,
  last_successful_update_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX remote_mirrors_project ON remote_mirrors (project_id);

CREATE TABLE pull_mirrors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  sealed_url TEXT NOT NULL,
  mirror_branch_regex TEXT,
  update_status TEXT NOT NULL DEFAULT 'none'
    CHECK (update_status IN ('none', 'started', 'finished', 'failed')),
  failures INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  last_update_at TEXT,
  last_update_started_at TEXT,
  last_successful_update_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX pull_mirrors_project_key ON pull_mirrors (project_id);
CREATE INDEX pull_mirrors_user ON pull_mirrors (user_id);
`
