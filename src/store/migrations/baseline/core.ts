export const coreTables = `
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  username TEXT NOT NULL COLLATE NOCASE,
  name TEXT NOT NULL,
  email TEXT NOT NULL COLLATE NOCASE,
  public_email TEXT COLLATE NOCASE,
  commit_email TEXT,
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN
    ('active', 'blocked', 'blocked_pending_approval', 'deactivated', 'banned', 'ldap_blocked')),
  kind TEXT NOT NULL DEFAULT 'human' CHECK (kind IN
    ('human', 'project_bot', 'group_bot', 'service_account', 'ghost')),
  admin INTEGER NOT NULL DEFAULT 0 CHECK (admin IN (0, 1)),
  external INTEGER NOT NULL DEFAULT 0 CHECK (external IN (0, 1)),
  private_profile INTEGER NOT NULL DEFAULT 0 CHECK (private_profile IN (0, 1)),
  password_hash TEXT,
  avatar_file TEXT,
  avatar_name TEXT,
  projects_limit INTEGER NOT NULL DEFAULT 100000,
  can_create_group INTEGER NOT NULL DEFAULT 1 CHECK (can_create_group IN (0, 1)),
  bio TEXT,
  location TEXT,
  website_url TEXT,
  organization TEXT,
  job_title TEXT,
  pronouns TEXT,
  note TEXT,
  settings TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(settings)),
  unconfirmed_email TEXT COLLATE NOCASE,
  confirmed_at TEXT,
  last_activity_on TEXT,
  last_sign_in_at TEXT,
  current_sign_in_at TEXT,
  created_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  service_source_type TEXT CHECK (service_source_type IN ('group', 'project')),
  service_source_id INTEGER,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX users_username_key ON users (username);
CREATE UNIQUE INDEX users_email_key ON users (email);
CREATE INDEX users_name ON users (name, id);
CREATE INDEX users_created_at ON users (created_at, id);
CREATE INDEX users_updated_at ON users (updated_at, id);
CREATE INDEX users_created_by ON users (created_by_id) WHERE created_by_id IS NOT NULL;
CREATE INDEX users_service_source ON users (service_source_type, service_source_id)
  WHERE service_source_type IS NOT NULL;

CREATE TRIGGER users_belongings AFTER DELETE ON users BEGIN
  DELETE FROM custom_attributes WHERE subject_type = 'user' AND subject_id = OLD.id;
END;

CREATE TABLE emails (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  email TEXT NOT NULL COLLATE NOCASE,
  confirmed_at TEXT,
  confirmation_digest BLOB,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX emails_email_key ON emails (email);
CREATE INDEX emails_user ON emails (user_id);

CREATE TABLE ssh_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  deploy INTEGER NOT NULL DEFAULT 0 CHECK (deploy IN (0, 1)),
  public INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)),
  title TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint_sha256 TEXT NOT NULL,
  fingerprint_md5 TEXT NOT NULL,
  usage_type TEXT NOT NULL DEFAULT 'auth_and_signing' CHECK (usage_type IN
    ('auth', 'signing', 'auth_and_signing')),
  expires_at TEXT,
  last_used_at TEXT,
  created_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  CHECK ((deploy = 0) = (user_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX ssh_keys_fingerprint_key ON ssh_keys (fingerprint_sha256);
CREATE INDEX ssh_keys_md5 ON ssh_keys (fingerprint_md5);
CREATE INDEX ssh_keys_user ON ssh_keys (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX ssh_keys_created_by ON ssh_keys (created_by_id) WHERE created_by_id IS NOT NULL;

CREATE TRIGGER ssh_keys_protection_levels AFTER DELETE ON ssh_keys WHEN OLD.deploy = 1 BEGIN
  DELETE FROM protected_branch_levels WHERE deploy_key_id = OLD.id;
  DELETE FROM protected_tag_levels WHERE deploy_key_id = OLD.id;
END;

CREATE TABLE access_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('personal', 'impersonation', 'project', 'group')),
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  scopes TEXT NOT NULL CHECK (json_valid(scopes)),
  expires_at TEXT,
  revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1)),
  last_used_at TEXT,
  last_used_ips TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(last_used_ips)),
  source_type TEXT CHECK (source_type IN ('group', 'project')),
  source_id INTEGER,
  previous_id INTEGER REFERENCES access_tokens (id) ON DELETE SET NULL,
  family_id INTEGER,
  created_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX access_tokens_digest_key ON access_tokens (digest);
CREATE INDEX access_tokens_user ON access_tokens (user_id, id);
CREATE INDEX access_tokens_source ON access_tokens (source_type, source_id)
  WHERE source_type IS NOT NULL;
CREATE INDEX access_tokens_family ON access_tokens (family_id) WHERE family_id IS NOT NULL;
CREATE INDEX access_tokens_previous ON access_tokens (previous_id) WHERE previous_id IS NOT NULL;
CREATE INDEX access_tokens_created_by ON access_tokens (created_by_id)
  WHERE created_by_id IS NOT NULL;
CREATE INDEX access_tokens_expires ON access_tokens (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX access_tokens_expiring ON access_tokens (expires_at) WHERE revoked = 0 AND expires_at IS NOT NULL;

CREATE TRIGGER access_tokens_used AFTER UPDATE OF last_used_at ON access_tokens BEGIN
  UPDATE users SET last_activity_on = substr(NEW.last_used_at, 1, 10)
    WHERE id = NEW.user_id
      AND (last_activity_on IS NULL OR last_activity_on < substr(NEW.last_used_at, 1, 10));
END;

CREATE TABLE namespaces (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('user', 'group')),
  parent_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL COLLATE NOCASE,
  path TEXT NOT NULL COLLATE NOCASE,
  full_path TEXT NOT NULL COLLATE NOCASE,
  full_name TEXT NOT NULL,
  owner_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  visibility TEXT NOT NULL DEFAULT 'private' CHECK (visibility IN
    ('private', 'internal', 'public')),
  description TEXT NOT NULL DEFAULT '',
  settings TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(settings)),
  avatar_file TEXT,
  avatar_name TEXT,
  share_with_group_lock INTEGER NOT NULL DEFAULT 0 CHECK (share_with_group_lock IN (0, 1)),
  project_creation_level TEXT NOT NULL DEFAULT 'developer',
  subgroup_creation_level TEXT NOT NULL DEFAULT 'maintainer',
  request_access_enabled INTEGER NOT NULL DEFAULT 1 CHECK (request_access_enabled IN (0, 1)),
  membership_lock INTEGER NOT NULL DEFAULT 0 CHECK (membership_lock IN (0, 1)),
  archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
  marked_for_deletion_on TEXT,
  creator_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  pending_delete INTEGER NOT NULL DEFAULT 0
  CHECK (pending_delete IN (0, 1)),
  CHECK ((kind = 'user') = (owner_id IS NOT NULL)),
  CHECK (kind = 'group' OR parent_id IS NULL)
) STRICT;
CREATE INDEX namespaces_parent ON namespaces (parent_id, id);
CREATE INDEX namespaces_kind_name ON namespaces (kind, name, id);
CREATE INDEX namespaces_kind_path ON namespaces (kind, path, id);
CREATE INDEX namespaces_kind_id ON namespaces (kind, id);
CREATE INDEX namespaces_full_path ON namespaces (full_path);
CREATE INDEX namespaces_creator ON namespaces (creator_id) WHERE creator_id IS NOT NULL;
CREATE INDEX namespaces_deletion ON namespaces (marked_for_deletion_on)
  WHERE marked_for_deletion_on IS NOT NULL;
CREATE UNIQUE INDEX namespaces_owner_key ON namespaces (owner_id) WHERE owner_id IS NOT NULL;

CREATE TRIGGER namespaces_added AFTER INSERT ON namespaces BEGIN
  INSERT INTO routes (path, namespace_id) VALUES (NEW.full_path, NEW.id);
  INSERT INTO namespace_ancestors (namespace_id, ancestor_id, depth) VALUES (NEW.id, NEW.id, 0);
  INSERT INTO namespace_ancestors (namespace_id, ancestor_id, depth)
    SELECT NEW.id, ancestor_id, depth + 1 FROM namespace_ancestors
    WHERE namespace_id = NEW.parent_id;
END;

CREATE TRIGGER namespaces_renamed AFTER UPDATE OF full_path ON namespaces
WHEN OLD.full_path IS NOT NEW.full_path COLLATE BINARY BEGIN
  UPDATE routes SET path = NEW.full_path WHERE namespace_id = NEW.id;
END;

CREATE TRIGGER namespaces_moving BEFORE UPDATE OF parent_id ON namespaces
WHEN NEW.parent_id IS NOT NULL AND OLD.parent_id IS NOT NEW.parent_id
  AND EXISTS (SELECT 1 FROM namespace_ancestors
    WHERE namespace_id = NEW.parent_id AND ancestor_id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'a group cannot move below itself');
END;

CREATE TRIGGER namespaces_moved AFTER UPDATE OF parent_id ON namespaces
WHEN OLD.parent_id IS NOT NEW.parent_id BEGIN
  DELETE FROM namespace_ancestors
    WHERE namespace_id IN
        (SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = NEW.id)
      AND ancestor_id NOT IN
        (SELECT namespace_id FROM namespace_ancestors WHERE ancestor_id = NEW.id);
  INSERT INTO namespace_ancestors (namespace_id, ancestor_id, depth)
    SELECT below.namespace_id, above.ancestor_id, below.depth + above.depth + 1
    FROM namespace_ancestors below, namespace_ancestors above
    WHERE below.ancestor_id = NEW.id AND above.namespace_id = NEW.parent_id;
END;

CREATE TRIGGER namespaces_belongings AFTER DELETE ON namespaces BEGIN
  DELETE FROM members WHERE source_type = 'group' AND source_id = OLD.id;
  DELETE FROM group_links WHERE source_type = 'group' AND source_id = OLD.id;
  DELETE FROM access_tokens WHERE source_type = 'group' AND source_id = OLD.id;
  DELETE FROM uploads WHERE source_type = 'group' AND source_id = OLD.id;
  DELETE FROM custom_attributes WHERE subject_type = 'group' AND subject_id = OLD.id;
  DELETE FROM internal_ids WHERE scope = 'group' AND scope_id = OLD.id;
END;

CREATE TRIGGER namespaces_deploy_tokens AFTER DELETE ON namespaces BEGIN
  DELETE FROM deploy_tokens WHERE source_type = 'group' AND source_id = OLD.id;
END;

CREATE TRIGGER namespaces_user_renamed AFTER UPDATE OF full_path ON namespaces
WHEN NEW.kind = 'user' AND OLD.full_path IS NOT NEW.full_path COLLATE BINARY BEGIN
  UPDATE projects SET full_path = NEW.full_path || '/' || path WHERE namespace_id = NEW.id;
END;

CREATE TRIGGER namespaces_notification_settings AFTER DELETE ON namespaces BEGIN
  DELETE FROM notification_settings WHERE source_type = 'group' AND source_id = OLD.id;
END;

CREATE TRIGGER namespaces_exports AFTER DELETE ON namespaces BEGIN
  DELETE FROM exports WHERE source_type = 'group' AND source_id = OLD.id;
END;

CREATE TABLE namespace_ancestors (
  namespace_id INTEGER NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
  ancestor_id INTEGER NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
  depth INTEGER NOT NULL,
  PRIMARY KEY (namespace_id, ancestor_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX namespace_ancestors_below ON namespace_ancestors (ancestor_id, namespace_id, depth);

CREATE TABLE projects (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace_id INTEGER NOT NULL REFERENCES namespaces (id),
  name TEXT NOT NULL COLLATE NOCASE,
  path TEXT NOT NULL COLLATE NOCASE,
  full_path TEXT NOT NULL COLLATE NOCASE,
  description TEXT,
  visibility TEXT NOT NULL DEFAULT 'private' CHECK (visibility IN
    ('private', 'internal', 'public')),
  default_branch TEXT,
  archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
  creator_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  forked_from_id INTEGER REFERENCES projects (id) ON DELETE SET NULL,
  star_count INTEGER NOT NULL DEFAULT 0,
  forks_count INTEGER NOT NULL DEFAULT 0,
  empty_repo INTEGER NOT NULL DEFAULT 1 CHECK (empty_repo IN (0, 1)),
  last_activity_at TEXT NOT NULL,
  import_status TEXT NOT NULL DEFAULT 'none' CHECK (import_status IN
    ('none', 'scheduled', 'started', 'finished', 'failed')),
  import_url TEXT,
  import_error TEXT,
  settings TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(settings)),
  avatar_file TEXT,
  avatar_name TEXT,
  repository_size INTEGER NOT NULL DEFAULT 0,
  pending_delete INTEGER NOT NULL DEFAULT 0 CHECK (pending_delete IN (0, 1)),
  marked_for_deletion_on TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX projects_name_key ON projects (namespace_id, name);
CREATE UNIQUE INDEX projects_path_key ON projects (namespace_id, path);
CREATE INDEX projects_namespace_id ON projects (namespace_id, id);
CREATE INDEX projects_full_path ON projects (full_path);
CREATE INDEX projects_created_at ON projects (created_at, id);
CREATE INDEX projects_updated_at ON projects (updated_at, id);
CREATE INDEX projects_last_activity_at ON projects (last_activity_at, id);
CREATE INDEX projects_name ON projects (name, id);
CREATE INDEX projects_path ON projects (path, id);
CREATE INDEX projects_star_count ON projects (star_count, id);
CREATE INDEX projects_visibility ON projects (visibility, id);
CREATE INDEX projects_creator ON projects (creator_id, id) WHERE creator_id IS NOT NULL;
CREATE INDEX projects_forked_from ON projects (forked_from_id, id)
  WHERE forked_from_id IS NOT NULL;
CREATE INDEX projects_deletion ON projects (marked_for_deletion_on)
  WHERE marked_for_deletion_on IS NOT NULL;
CREATE INDEX projects_container_cleanup ON projects (id)
  WHERE json_extract(settings, '$.container_expiration_policy.enabled') = 1;

CREATE TRIGGER projects_added AFTER INSERT ON projects BEGIN
  INSERT INTO routes (path, project_id) VALUES (NEW.full_path, NEW.id);
END;

CREATE TRIGGER projects_renamed AFTER UPDATE OF full_path ON projects
WHEN OLD.full_path IS NOT NEW.full_path COLLATE BINARY BEGIN
  UPDATE routes SET path = NEW.full_path WHERE project_id = NEW.id;
END;

CREATE TRIGGER projects_left_path AFTER UPDATE OF full_path ON projects
WHEN OLD.full_path <> NEW.full_path BEGIN
  INSERT INTO redirects (path, project_id) VALUES (OLD.full_path, NEW.id)
    ON CONFLICT (path) DO UPDATE SET project_id = NEW.id;
END;

CREATE TRIGGER projects_forked AFTER INSERT ON projects WHEN NEW.forked_from_id IS NOT NULL BEGIN
  UPDATE projects SET forks_count = forks_count + 1 WHERE id = NEW.forked_from_id;
END;

CREATE TRIGGER projects_fork_changed AFTER UPDATE OF forked_from_id ON projects
WHEN OLD.forked_from_id IS NOT NEW.forked_from_id BEGIN
  UPDATE projects SET forks_count = forks_count - 1 WHERE id = OLD.forked_from_id;
  UPDATE projects SET forks_count = forks_count + 1 WHERE id = NEW.forked_from_id;
END;

CREATE TRIGGER projects_fork_removed AFTER DELETE ON projects
WHEN OLD.forked_from_id IS NOT NULL BEGIN
  UPDATE projects SET forks_count = forks_count - 1 WHERE id = OLD.forked_from_id;
END;

CREATE TRIGGER projects_belongings AFTER DELETE ON projects BEGIN
  DELETE FROM members WHERE source_type = 'project' AND source_id = OLD.id;
  DELETE FROM group_links WHERE source_type = 'project' AND source_id = OLD.id;
  DELETE FROM access_tokens WHERE source_type = 'project' AND source_id = OLD.id;
  DELETE FROM uploads WHERE source_type = 'project' AND source_id = OLD.id;
  DELETE FROM custom_attributes WHERE subject_type = 'project' AND subject_id = OLD.id;
  DELETE FROM internal_ids WHERE scope = 'project' AND scope_id = OLD.id;
END;

CREATE TRIGGER projects_deploy_tokens AFTER DELETE ON projects BEGIN
  DELETE FROM deploy_tokens WHERE source_type = 'project' AND source_id = OLD.id;
END;

CREATE TRIGGER projects_notification_settings AFTER DELETE ON projects BEGIN
  DELETE FROM notification_settings WHERE source_type = 'project' AND source_id = OLD.id;
END;

CREATE TRIGGER projects_exports AFTER DELETE ON projects BEGIN
  DELETE FROM exports WHERE source_type = 'project' AND source_id = OLD.id;
END;

CREATE TABLE routes (
  path TEXT NOT NULL COLLATE NOCASE PRIMARY KEY,
  namespace_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  CHECK ((namespace_id IS NULL) <> (project_id IS NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX routes_namespace_key ON routes (namespace_id) WHERE namespace_id IS NOT NULL;
CREATE UNIQUE INDEX routes_project_key ON routes (project_id) WHERE project_id IS NOT NULL;

CREATE TRIGGER routes_added AFTER INSERT ON routes BEGIN
  DELETE FROM redirects WHERE path = NEW.path;
END;

CREATE TRIGGER routes_changed AFTER UPDATE OF path ON routes BEGIN
  DELETE FROM redirects WHERE path = NEW.path;
END;

CREATE TABLE redirects (
  path TEXT NOT NULL COLLATE NOCASE PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX redirects_project ON redirects (project_id);

CREATE TABLE members (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source_type TEXT NOT NULL CHECK (source_type IN ('group', 'project')),
  source_id INTEGER NOT NULL,
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  access_level INTEGER NOT NULL,
  expires_at TEXT,
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'awaiting')),
  requested_at TEXT,
  invite_email TEXT COLLATE NOCASE,
  invite_token_digest BLOB,
  invite_accepted_at TEXT,
  member_role_id INTEGER,
  override INTEGER NOT NULL DEFAULT 0 CHECK (override IN (0, 1)),
  created_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK (user_id IS NOT NULL OR invite_email IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX members_user_key ON members (source_type, source_id, user_id);
CREATE UNIQUE INDEX members_invite_key ON members (source_type, source_id, invite_email)
  WHERE user_id IS NULL;
CREATE UNIQUE INDEX members_invite_token_key ON members (invite_token_digest)
  WHERE invite_token_digest IS NOT NULL;
CREATE INDEX members_of_user ON members (user_id, source_type, source_id, access_level);
CREATE INDEX members_expires ON members (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX members_created_by ON members (created_by_id) WHERE created_by_id IS NOT NULL;

CREATE TABLE group_links (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source_type TEXT NOT NULL CHECK (source_type IN ('group', 'project')),
  source_id INTEGER NOT NULL,
  group_id INTEGER NOT NULL REFERENCES namespaces (id) ON DELETE CASCADE,
  access_level INTEGER NOT NULL,
  expires_at TEXT,
  member_role_id INTEGER,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX group_links_key ON group_links (source_type, source_id, group_id);
CREATE INDEX group_links_group ON group_links (group_id, source_type, source_id);
CREATE INDEX group_links_expires ON group_links (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE stars (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  PRIMARY KEY (user_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX stars_project ON stars (project_id, created_at);

CREATE TRIGGER stars_added AFTER INSERT ON stars BEGIN
  UPDATE projects SET star_count = star_count + 1 WHERE id = NEW.project_id;
END;

CREATE TRIGGER stars_removed AFTER DELETE ON stars BEGIN
  UPDATE projects SET star_count = star_count - 1 WHERE id = OLD.project_id;
END;

CREATE TABLE uploads (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source_type TEXT NOT NULL CHECK (source_type IN ('group', 'project')),
  source_id INTEGER NOT NULL,
  secret TEXT NOT NULL,
  filename TEXT NOT NULL,
  file TEXT NOT NULL,
  size INTEGER NOT NULL,
  content_type TEXT,
  uploaded_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX uploads_secret_key ON uploads (secret);
CREATE INDEX uploads_source ON uploads (source_type, source_id, id);
CREATE INDEX uploads_file ON uploads (file);
CREATE INDEX uploads_uploaded_by ON uploads (uploaded_by_id) WHERE uploaded_by_id IS NOT NULL;

CREATE TABLE custom_attributes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  subject_type TEXT NOT NULL CHECK (subject_type IN ('user', 'group', 'project')),
  subject_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX custom_attributes_key ON custom_attributes (subject_type, subject_id, key);
CREATE INDEX custom_attributes_value ON custom_attributes (subject_type, key, value);

CREATE TABLE internal_ids (
  scope TEXT NOT NULL CHECK (scope IN ('group', 'project')),
  scope_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (scope, scope_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;

CREATE TABLE features (
  name TEXT NOT NULL PRIMARY KEY,
  state TEXT NOT NULL DEFAULT 'off' CHECK (state IN ('on', 'off', 'conditional')),
  gates TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(gates)),
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  state TEXT NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'running', 'dead')),
  attempts INTEGER NOT NULL DEFAULT 0,
  run_at TEXT NOT NULL,
  locked_at TEXT,
  locked_by TEXT,
  last_error TEXT,
  unique_key TEXT,
  created_at TEXT NOT NULL,
  cut_offs INTEGER NOT NULL DEFAULT 0 CHECK (cut_offs >= 0)
) STRICT;
CREATE INDEX tasks_due ON tasks (state, run_at, id);
CREATE UNIQUE INDEX tasks_waiting_key ON tasks (name, unique_key)
  WHERE state = 'ready' AND unique_key IS NOT NULL;
CREATE INDEX tasks_by_name ON tasks (name, run_at, id) WHERE state = 'ready';

CREATE TABLE schedules (
  name TEXT NOT NULL PRIMARY KEY,
  last_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  author_id INTEGER,
  entity_type TEXT NOT NULL,
  entity_id INTEGER NOT NULL,
  action TEXT NOT NULL,
  details TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(details)),
  ip TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX audit_events_entity ON audit_events (entity_type, entity_id, id);
CREATE INDEX audit_events_author ON audit_events (author_id, id);
CREATE INDEX audit_events_created_at ON audit_events (created_at, id);
`
