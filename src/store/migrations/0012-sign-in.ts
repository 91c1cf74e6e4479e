import type { Migration } from '../migration.ts'

/** Browsers that are signed in. */
export const signIn: Migration = {
  name: '0012-sign-in',
  sql: `
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  ip TEXT,
  expires_at TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX sessions_digest_key ON sessions (digest);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expires ON sessions (expires_at);
`,
}
