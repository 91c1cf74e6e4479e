import type { Migration } from '../migration.ts'

/**
 * A second factor beside the password. `users.two_factor` says whether somebody has one, and follows from the tables by
 * triggers; a sign-in that waits for the second factor is a session that opens nothing yet.
 */
export const secondFactor: Migration = {
  name: '0370-second-factor',
  sql: `
ALTER TABLE users ADD COLUMN two_factor INTEGER NOT NULL DEFAULT 0 CHECK (two_factor IN (0, 1));
ALTER TABLE users ADD COLUMN password_expires_at TEXT;

CREATE TABLE two_factor_requests (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  asked_at TEXT NOT NULL
) STRICT;

CREATE TABLE totp_secrets (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  secret TEXT NOT NULL,
  confirmed_at TEXT,
  last_step INTEGER NOT NULL DEFAULT 0,
  misses INTEGER NOT NULL DEFAULT 0,
  misses_since TEXT,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE security_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  credential_id TEXT NOT NULL,
  public_key BLOB NOT NULL,
  sign_count INTEGER NOT NULL,
  transports TEXT NOT NULL DEFAULT '[]',
  name TEXT NOT NULL,
  is_passkey INTEGER NOT NULL CHECK (is_passkey IN (0, 1)),
  created_at TEXT NOT NULL,
  last_used_at TEXT
) STRICT;
CREATE UNIQUE INDEX security_keys_credential_key ON security_keys (credential_id);
CREATE INDEX security_keys_user ON security_keys (user_id);

CREATE TABLE recovery_codes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;
CREATE UNIQUE INDEX recovery_codes_digest_key ON recovery_codes (user_id, digest);

CREATE TABLE used_challenges (
  digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
  expires_at TEXT NOT NULL
) STRICT;
CREATE INDEX used_challenges_expires ON used_challenges (expires_at);

CREATE TRIGGER totp_secrets_confirmed AFTER UPDATE OF confirmed_at ON totp_secrets BEGIN
  UPDATE users SET two_factor = (NEW.confirmed_at IS NOT NULL)
    OR EXISTS (SELECT 1 FROM security_keys WHERE user_id = NEW.user_id) WHERE id = NEW.user_id;
END;
CREATE TRIGGER totp_secrets_deleted AFTER DELETE ON totp_secrets BEGIN
  UPDATE users SET two_factor = EXISTS (SELECT 1 FROM security_keys WHERE user_id = OLD.user_id)
    WHERE id = OLD.user_id;
END;
CREATE TRIGGER security_keys_added AFTER INSERT ON security_keys BEGIN
  UPDATE users SET two_factor = 1 WHERE id = NEW.user_id;
END;
CREATE TRIGGER security_keys_deleted AFTER DELETE ON security_keys BEGIN
  UPDATE users SET two_factor = EXISTS (SELECT 1 FROM security_keys WHERE user_id = OLD.user_id)
    OR EXISTS (SELECT 1 FROM totp_secrets WHERE user_id = OLD.user_id AND confirmed_at IS NOT NULL)
    WHERE id = OLD.user_id;
END;

ALTER TABLE sessions ADD COLUMN waits_for TEXT CHECK (waits_for IN ('second_factor'));
ALTER TABLE sessions ADD COLUMN proved_at TEXT;

CREATE INDEX namespaces_two_factor ON namespaces (id)
  WHERE json_extract(settings, '$.require_two_factor_authentication') = 1;
`,
}
