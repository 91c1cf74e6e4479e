import type { Migration } from '../migration.ts'

/** Protected environments of projects and groups; keys that go take their levels with them. */
export const protections: Migration = {
  name: '0034-protections',
  sql: `
CREATE TABLE protected_environments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  required_approval_count INTEGER NOT NULL DEFAULT 0 CHECK (required_approval_count >= 0),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((project_id IS NULL) <> (group_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX protected_environments_project_key ON protected_environments (project_id, name)
  WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX protected_environments_group_key ON protected_environments (group_id, name)
  WHERE group_id IS NOT NULL;

CREATE TABLE protected_environment_levels (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  protected_environment_id INTEGER NOT NULL
    REFERENCES protected_environments (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('deploy', 'approval')),
  access_level INTEGER CHECK (access_level IN (30, 40, 60)),
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  group_inheritance_type INTEGER NOT NULL DEFAULT 0 CHECK (group_inheritance_type IN (0, 1)),
  required_approvals INTEGER NOT NULL DEFAULT 1 CHECK (required_approvals >= 0),
  CHECK ((access_level IS NOT NULL) + (user_id IS NOT NULL) + (group_id IS NOT NULL) = 1)
) STRICT;
CREATE INDEX protected_environment_levels_of ON protected_environment_levels
  (protected_environment_id, id);
CREATE INDEX protected_environment_levels_user ON protected_environment_levels (user_id)
  WHERE user_id IS NOT NULL;
CREATE INDEX protected_environment_levels_group ON protected_environment_levels (group_id)
  WHERE group_id IS NOT NULL;

CREATE INDEX protected_branch_levels_key ON protected_branch_levels (deploy_key_id)
  WHERE deploy_key_id IS NOT NULL;
CREATE INDEX protected_tag_levels_key ON protected_tag_levels (deploy_key_id)
  WHERE deploy_key_id IS NOT NULL;
CREATE TRIGGER ssh_keys_protection_levels AFTER DELETE ON ssh_keys WHEN OLD.deploy = 1 BEGIN
  DELETE FROM protected_branch_levels WHERE deploy_key_id = OLD.id;
  DELETE FROM protected_tag_levels WHERE deploy_key_id = OLD.id;
END;
`,
}
