export const refsTables = `
CREATE TABLE protected_branches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  allow_force_push INTEGER NOT NULL DEFAULT 0 CHECK (allow_force_push IN (0, 1)),
  code_owner_approval_required INTEGER NOT NULL DEFAULT 0
    CHECK (code_owner_approval_required IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((project_id IS NULL) <> (group_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX protected_branches_project_key ON protected_branches (project_id, name)
  WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX protected_branches_group_key ON protected_branches (group_id, name)
  WHERE group_id IS NOT NULL;

CREATE TABLE protected_branch_levels (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  protected_branch_id INTEGER NOT NULL REFERENCES protected_branches (id) ON DELETE CASCADE,
  action TEXT NOT NULL CHECK (action IN ('push', 'merge', 'unprotect')),
  access_level INTEGER CHECK (access_level IN (0, 30, 40, 60)),
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  deploy_key_id INTEGER,
  CHECK ((access_level IS NOT NULL) + (user_id IS NOT NULL) + (group_id IS NOT NULL)
    + (deploy_key_id IS NOT NULL) = 1)
) STRICT;
CREATE INDEX protected_branch_levels_rule ON protected_branch_levels (protected_branch_id, id);
CREATE INDEX protected_branch_levels_user ON protected_branch_levels (user_id)
  WHERE user_id IS NOT NULL;
CREATE INDEX protected_branch_levels_group ON protected_branch_levels (group_id)
  WHERE group_id IS NOT NULL;
CREATE UNIQUE INDEX protected_branch_levels_level_key
  ON protected_branch_levels (protected_branch_id, action, access_level)
  WHERE access_level IS NOT NULL;
CREATE UNIQUE INDEX protected_branch_levels_user_key
  ON protected_branch_levels (protected_branch_id, action, user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX protected_branch_levels_group_key
  ON protected_branch_levels (protected_branch_id, action, group_id) WHERE group_id IS NOT NULL;
CREATE INDEX protected_branch_levels_key ON protected_branch_levels (deploy_key_id)
  WHERE deploy_key_id IS NOT NULL;

CREATE TABLE protected_tags (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX protected_tags_key ON protected_tags (project_id, name);

CREATE TABLE protected_tag_levels (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  protected_tag_id INTEGER NOT NULL REFERENCES protected_tags (id) ON DELETE CASCADE,
  access_level INTEGER CHECK (access_level IN (0, 30, 40, 60)),
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  deploy_key_id INTEGER,
  CHECK ((access_level IS NOT NULL) + (user_id IS NOT NULL) + (group_id IS NOT NULL)
    + (deploy_key_id IS NOT NULL) = 1)
) STRICT;
CREATE INDEX protected_tag_levels_rule ON protected_tag_levels (protected_tag_id, id);
CREATE INDEX protected_tag_levels_user ON protected_tag_levels (user_id)
  WHERE user_id IS NOT NULL;
CREATE INDEX protected_tag_levels_group ON protected_tag_levels (group_id)
  WHERE group_id IS NOT NULL;
CREATE INDEX protected_tag_levels_key ON protected_tag_levels (deploy_key_id)
  WHERE deploy_key_id IS NOT NULL;

CREATE TABLE push_effects (
  push_id INTEGER NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
  effect TEXT NOT NULL,
  PRIMARY KEY (push_id, effect)
) STRICT, WITHOUT ROWID;

CREATE TABLE push_rules (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  author_email_regex TEXT,
  branch_name_regex TEXT,
  commit_message_regex TEXT,
  commit_message_negative_regex TEXT,
  file_name_regex TEXT,
  commit_committer_check INTEGER NOT NULL DEFAULT 0 CHECK (commit_committer_check IN (0, 1)),
  commit_committer_name_check INTEGER NOT NULL DEFAULT 0
    CHECK (commit_committer_name_check IN (0, 1)),
  deny_delete_tag INTEGER NOT NULL DEFAULT 0 CHECK (deny_delete_tag IN (0, 1)),
  max_file_size INTEGER NOT NULL DEFAULT 0 CHECK (max_file_size >= 0),
  member_check INTEGER NOT NULL DEFAULT 0 CHECK (member_check IN (0, 1)),
  prevent_secrets INTEGER NOT NULL DEFAULT 0 CHECK (prevent_secrets IN (0, 1)),
  reject_unsigned_commits INTEGER NOT NULL DEFAULT 0 CHECK (reject_unsigned_commits IN (0, 1)),
  reject_non_dco_commits INTEGER NOT NULL DEFAULT 0 CHECK (reject_non_dco_commits IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX push_rules_project_key ON push_rules (project_id);

CREATE TABLE waiting_pushes (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL
) STRICT;
CREATE INDEX waiting_pushes_by_project ON waiting_pushes (project_id, push_id);

CREATE TABLE pushes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  repository_id INTEGER REFERENCES wiki_snippet_repositories (id) ON DELETE CASCADE,
  user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  via TEXT NOT NULL CHECK (via IN ('push', 'api', 'merge', 'system')),
  options TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(options)),
  process TEXT,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
  created_at TEXT NOT NULL,
  closed_at TEXT,
  CHECK ((project_id IS NULL) <> (repository_id IS NULL))
) STRICT;
CREATE INDEX pushes_open ON pushes (id) WHERE state = 'open';
CREATE INDEX pushes_project ON pushes (project_id, id);
CREATE INDEX pushes_repository ON pushes (repository_id, id) WHERE repository_id IS NOT NULL;
CREATE INDEX pushes_user ON pushes (user_id, id) WHERE user_id IS NOT NULL;

CREATE TABLE ref_moves (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  push_id INTEGER NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  repository_id INTEGER REFERENCES wiki_snippet_repositories (id) ON DELETE CASCADE,
  ref TEXT NOT NULL,
  old_id TEXT NOT NULL,
  new_id TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'moved', 'refused')),
  CHECK ((project_id IS NULL) <> (repository_id IS NULL))
) STRICT;
CREATE INDEX ref_moves_push ON ref_moves (push_id);
CREATE INDEX ref_moves_ref ON ref_moves (project_id, ref, id);
CREATE INDEX ref_moves_repository_ref ON ref_moves (repository_id, ref, id)
  WHERE repository_id IS NOT NULL;
`
