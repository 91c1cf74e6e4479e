import type { Migration } from '../migration.ts'

/**
 * Snippets, and the repositories beside the code of projects: those of snippets and wikis. A move of a ref in one of
 * them is recorded before it happens, as pushes of projects are; there is one branch, so a push is one move.
 */
export const sideRepositories: Migration = {
  name: '0080-side-repositories',
  sql: `
CREATE TABLE snippets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  author_id INTEGER NOT NULL REFERENCES users (id),
  title TEXT NOT NULL,
  description TEXT,
  visibility TEXT NOT NULL CHECK (visibility IN ('private', 'internal', 'public')),
  files TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(files)),
  user_agent TEXT,
  ip_address TEXT,
  pending_delete INTEGER NOT NULL DEFAULT 1 CHECK (pending_delete IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX snippets_by_project ON snippets (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX snippets_by_author ON snippets (author_id, id);
CREATE INDEX snippets_personal ON snippets (visibility, id) WHERE project_id IS NULL;

CREATE TRIGGER snippets_deleted AFTER DELETE ON snippets BEGIN
  DELETE FROM notes WHERE noteable_type = 'Snippet' AND noteable_id = old.id;
  DELETE FROM award_emoji WHERE awardable_type = 'Snippet' AND awardable_id = old.id;
END;

CREATE TABLE side_repositories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  snippet_id INTEGER REFERENCES snippets (id) ON DELETE CASCADE,
  default_branch TEXT,
  size INTEGER NOT NULL DEFAULT 0 CHECK (size >= 0),
  created_at TEXT NOT NULL,
  CHECK ((project_id IS NOT NULL) + (group_id IS NOT NULL) + (snippet_id IS NOT NULL) = 1)
) STRICT;
CREATE UNIQUE INDEX side_repositories_project_key ON side_repositories (project_id)
  WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX side_repositories_group_key ON side_repositories (group_id)
  WHERE group_id IS NOT NULL;
CREATE UNIQUE INDEX side_repositories_snippet_key ON side_repositories (snippet_id)
  WHERE snippet_id IS NOT NULL;

CREATE TABLE side_moves (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id INTEGER NOT NULL REFERENCES side_repositories (id) ON DELETE CASCADE,
  user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  process TEXT,
  ref TEXT NOT NULL,
  old_id TEXT NOT NULL,
  new_id TEXT NOT NULL,
  from_path TEXT,
  to_path TEXT,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'moved', 'refused')),
  created_at TEXT NOT NULL,
  closed_at TEXT,
  CHECK ((from_path IS NULL) = (to_path IS NULL))
) STRICT;
CREATE INDEX side_moves_open ON side_moves (id) WHERE state = 'open';
CREATE INDEX side_moves_repository ON side_moves (repository_id, id);
CREATE INDEX side_moves_user ON side_moves (user_id) WHERE user_id IS NOT NULL;
`,
}
