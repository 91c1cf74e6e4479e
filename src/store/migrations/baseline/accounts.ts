export const accountsTables = `
CREATE TABLE deploy_key_projects (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key_id INTEGER NOT NULL REFERENCES ssh_keys (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  can_push INTEGER NOT NULL DEFAULT 0 CHECK (can_push IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX deploy_key_projects_key ON deploy_key_projects (project_id, key_id);
CREATE INDEX deploy_key_projects_of_key ON deploy_key_projects (key_id);

CREATE TRIGGER deploy_key_projects_last AFTER DELETE ON deploy_key_projects
WHEN NOT EXISTS (SELECT 1 FROM deploy_key_projects WHERE key_id = OLD.key_id) BEGIN
  DELETE FROM ssh_keys WHERE id = OLD.key_id AND deploy = 1 AND public = 0;
END;

CREATE TABLE gpg_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  key_id TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX gpg_keys_fingerprint_key ON gpg_keys (fingerprint);
CREATE INDEX gpg_keys_user ON gpg_keys (user_id, id);
CREATE INDEX gpg_keys_key_id ON gpg_keys (key_id);

CREATE TABLE deploy_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source_type TEXT NOT NULL CHECK (source_type IN ('group', 'project')),
  source_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  username TEXT,
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  expires_at TEXT,
  revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1)),
  last_used_at TEXT,
  created_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  sealed_secret TEXT
) STRICT;
CREATE UNIQUE INDEX deploy_tokens_digest_key ON deploy_tokens (digest);
CREATE INDEX deploy_tokens_source ON deploy_tokens (source_type, source_id, id);
CREATE INDEX deploy_tokens_created_by ON deploy_tokens (created_by_id)
  WHERE created_by_id IS NOT NULL;

CREATE TABLE oauth_applications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL,
  secret_digest BLOB NOT NULL CHECK (length(secret_digest) = 32),
  name TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  confidential INTEGER NOT NULL DEFAULT 1 CHECK (confidential IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX oauth_applications_uid_key ON oauth_applications (uid);

CREATE TABLE oauth_grants (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  application_id INTEGER NOT NULL REFERENCES oauth_applications (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_digest BLOB NOT NULL CHECK (length(code_digest) = 32),
  redirect_uri TEXT NOT NULL,
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  code_challenge TEXT,
  code_challenge_method TEXT CHECK (code_challenge_method IN ('plain', 'S256')),
  nonce TEXT,
  expires_at TEXT NOT NULL,
  used_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX oauth_grants_code_key ON oauth_grants (code_digest);
CREATE INDEX oauth_grants_application ON oauth_grants (application_id);
CREATE INDEX oauth_grants_user ON oauth_grants (user_id);
CREATE INDEX oauth_grants_expires ON oauth_grants (expires_at);

CREATE TABLE oauth_devices (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  application_id INTEGER NOT NULL REFERENCES oauth_applications (id) ON DELETE CASCADE,
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  device_digest BLOB NOT NULL CHECK (length(device_digest) = 32),
  user_code TEXT NOT NULL,
  denied INTEGER NOT NULL DEFAULT 0 CHECK (denied IN (0, 1)),
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  expires_at TEXT NOT NULL,
  polled_at TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX oauth_devices_device_key ON oauth_devices (device_digest);
CREATE UNIQUE INDEX oauth_devices_user_code_key ON oauth_devices (user_code);
CREATE INDEX oauth_devices_application ON oauth_devices (application_id);
CREATE INDEX oauth_devices_user ON oauth_devices (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX oauth_devices_expires ON oauth_devices (expires_at);

CREATE TABLE oauth_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  application_id INTEGER REFERENCES oauth_applications (id) ON DELETE CASCADE,
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  grant_id INTEGER REFERENCES oauth_grants (id) ON DELETE SET NULL,
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  refresh_digest BLOB CHECK (length(refresh_digest) = 32),
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  expires_at TEXT NOT NULL,
  revoked_at TEXT,
  last_used_at TEXT,
  created_at TEXT NOT NULL,
  family_id INTEGER
) STRICT;
CREATE UNIQUE INDEX oauth_tokens_digest_key ON oauth_tokens (digest);
CREATE UNIQUE INDEX oauth_tokens_refresh_key ON oauth_tokens (refresh_digest)
  WHERE refresh_digest IS NOT NULL;
CREATE INDEX oauth_tokens_application ON oauth_tokens (application_id);
CREATE INDEX oauth_tokens_user ON oauth_tokens (user_id);
CREATE INDEX oauth_tokens_grant ON oauth_tokens (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX oauth_tokens_family ON oauth_tokens (family_id) WHERE family_id IS NOT NULL;

CREATE TRIGGER oauth_tokens_used AFTER UPDATE OF last_used_at ON oauth_tokens BEGIN
  UPDATE users SET last_activity_on = substr(NEW.last_used_at, 1, 10)
    WHERE id = NEW.user_id
      AND (last_activity_on IS NULL OR last_activity_on < substr(NEW.last_used_at, 1, 10));
END;

CREATE TABLE follows (
  follower_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  followee_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  PRIMARY KEY (follower_id, followee_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX follows_followee ON follows (followee_id, follower_id);

CREATE TABLE user_statuses (
  user_id INTEGER NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  emoji TEXT,
  message TEXT,
  availability TEXT NOT NULL DEFAULT 'not_set' CHECK (availability IN ('not_set', 'busy')),
  clear_at TEXT
) STRICT;

CREATE TABLE email_confirmations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  email TEXT NOT NULL COLLATE NOCASE,
  purpose TEXT NOT NULL CHECK (purpose IN ('confirm', 'reset_password')),
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX email_confirmations_digest_key ON email_confirmations (digest);
CREATE UNIQUE INDEX email_confirmations_key ON email_confirmations (user_id, purpose, email);

CREATE TABLE identities (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  provider TEXT NOT NULL,
  extern_uid TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX identities_extern_key ON identities (provider, extern_uid);
CREATE UNIQUE INDEX identities_user_key ON identities (user_id, provider);

CREATE TABLE notification_settings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  source_type TEXT NOT NULL DEFAULT 'instance' CHECK (source_type IN
    ('instance', 'group', 'project')),
  source_id INTEGER NOT NULL DEFAULT 0,
  level TEXT NOT NULL CHECK (level IN
    ('disabled', 'participating', 'watch', 'global', 'mention', 'custom')),
  events TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(events)),
  notification_email TEXT,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX notification_settings_key
  ON notification_settings (user_id, source_type, source_id);
CREATE INDEX notification_settings_source ON notification_settings (source_type, source_id);

CREATE TABLE broadcast_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message TEXT NOT NULL,
  starts_at TEXT NOT NULL,
  ends_at TEXT NOT NULL,
  font TEXT NOT NULL,
  target_access_levels TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(target_access_levels)),
  target_path TEXT NOT NULL DEFAULT '',
  broadcast_type TEXT NOT NULL DEFAULT 'banner' CHECK (broadcast_type IN ('banner', 'notification')),
  dismissable INTEGER NOT NULL DEFAULT 0 CHECK (dismissable IN (0, 1)),
  theme TEXT NOT NULL DEFAULT 'indigo',
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  color TEXT NOT NULL DEFAULT '#E75E40'
) STRICT;

CREATE TABLE topics (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL COLLATE NOCASE,
  title TEXT NOT NULL,
  description TEXT,
  avatar_file TEXT,
  avatar_name TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX topics_name_key ON topics (name);

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

CREATE TABLE gpg_subkeys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  gpg_key_id INTEGER NOT NULL REFERENCES gpg_keys (id) ON DELETE CASCADE,
  fingerprint TEXT NOT NULL,
  key_id TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX gpg_subkeys_key ON gpg_subkeys (gpg_key_id, fingerprint);
CREATE INDEX gpg_subkeys_fingerprint ON gpg_subkeys (fingerprint);
CREATE INDEX gpg_subkeys_key_id ON gpg_subkeys (key_id);

CREATE TABLE sent_notifications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  digest BLOB NOT NULL,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  subject_type TEXT NOT NULL CHECK (subject_type IN ('issue', 'merge_request')),
  subject_id INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX sent_notifications_digest_key ON sent_notifications (digest);
CREATE INDEX sent_notifications_created ON sent_notifications (created_at);
CREATE INDEX sent_notifications_user ON sent_notifications (user_id, created_at);

CREATE TABLE expiry_warnings (
  kind TEXT NOT NULL CHECK (kind IN ('token', 'member')),
  subject_id INTEGER NOT NULL,
  expires_at TEXT NOT NULL,
  sent_at TEXT NOT NULL,
  PRIMARY KEY (kind, subject_id, expires_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX expiry_warnings_sent ON expiry_warnings (sent_at);
`
