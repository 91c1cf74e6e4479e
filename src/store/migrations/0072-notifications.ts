import type { Migration } from '../migration.ts'

/** Mails about issues and merge requests, so that their links can end what they are about. */
export const notifications: Migration = {
  name: '0072-notifications',
  sql: `
CREATE TABLE sent_notifications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  digest BLOB NOT NULL,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  subject_type TEXT NOT NULL CHECK (subject_type IN ('issue', 'merge_request')),
  subject_id INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX sent_notifications_digest_key ON sent_notifications (digest);
CREATE INDEX sent_notifications_user ON sent_notifications (user_id);
CREATE INDEX sent_notifications_created ON sent_notifications (created_at);

CREATE TABLE expiry_warnings (
  kind TEXT NOT NULL CHECK (kind IN ('token', 'member')),
  subject_id INTEGER NOT NULL,
  expires_at TEXT NOT NULL,
  sent_at TEXT NOT NULL,
  PRIMARY KEY (kind, subject_id, expires_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX expiry_warnings_sent ON expiry_warnings (sent_at);
CREATE INDEX access_tokens_expiring ON access_tokens (expires_at) WHERE revoked = 0 AND expires_at IS NOT NULL;
`,
}
