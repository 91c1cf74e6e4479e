export const wikisAndSnippetsTables = `
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

CREATE TABLE wiki_snippet_repositories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  snippet_id INTEGER REFERENCES snippets (id) ON DELETE CASCADE,
  default_branch TEXT,
  size INTEGER NOT NULL DEFAULT 0 CHECK (size >= 0),
  created_at TEXT NOT NULL,
  CHECK ((project_id IS NOT NULL) + (group_id IS NOT NULL) + (snippet_id IS NOT NULL) = 1)
) STRICT;
CREATE UNIQUE INDEX wiki_snippet_repositories_project_key ON wiki_snippet_repositories (project_id)
  WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX wiki_snippet_repositories_group_key ON wiki_snippet_repositories (group_id)
  WHERE group_id IS NOT NULL;
CREATE UNIQUE INDEX wiki_snippet_repositories_snippet_key ON wiki_snippet_repositories (snippet_id)
  WHERE snippet_id IS NOT NULL;

CREATE TABLE wiki_pages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id INTEGER NOT NULL REFERENCES "wiki_snippet_repositories" (id) ON DELETE CASCADE,
  slug TEXT NOT NULL,
  path TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX wiki_pages_key ON wiki_pages (repository_id, slug);

CREATE TABLE wiki_renames (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id) ON DELETE CASCADE,
  from_path TEXT NOT NULL,
  to_path TEXT NOT NULL
) STRICT;
`
