export const backupsTables = `
CREATE TABLE backups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT,
  folder TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('success', 'faulty', 'failed')),
  started_at TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  repositories INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  new_bytes INTEGER NOT NULL DEFAULT 0,
  faults TEXT NOT NULL DEFAULT '[]',
  error TEXT
) STRICT;
`
