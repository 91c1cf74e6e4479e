import type { Migration } from '../migration.ts'

/**
 * One journal of ref moves for the repositories of projects, wikis and snippets. What was recorded of wikis and snippets
 * in a table of its own goes on here, after the last push. The page that an edit renames is the wiki's to know.
 */
export const oneRefJournal: Migration = {
  name: '0130-one-ref-journal',
  sql: `
ALTER TABLE side_repositories RENAME TO wiki_snippet_repositories;
DROP INDEX side_repositories_project_key;
DROP INDEX side_repositories_group_key;
DROP INDEX side_repositories_snippet_key;
CREATE UNIQUE INDEX wiki_snippet_repositories_project_key ON wiki_snippet_repositories (project_id)
  WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX wiki_snippet_repositories_group_key ON wiki_snippet_repositories (group_id)
  WHERE group_id IS NOT NULL;
CREATE UNIQUE INDEX wiki_snippet_repositories_snippet_key ON wiki_snippet_repositories (snippet_id)
  WHERE snippet_id IS NOT NULL;

CREATE TABLE new_pushes (
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
CREATE TABLE new_ref_moves (
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
CREATE TABLE wiki_renames (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id) ON DELETE CASCADE,
  from_path TEXT NOT NULL,
  to_path TEXT NOT NULL
) STRICT;

-- Numbers that were given once, also to rows that are gone, are not given again.
CREATE TEMP TABLE last_numbers AS
  SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pushes'), 0) AS push,
         coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'ref_moves'), 0) AS move;

INSERT INTO new_pushes (id, project_id, user_id, via, options, process, state, created_at, closed_at)
  SELECT id, project_id, user_id, via, options, process, state, created_at, closed_at FROM pushes;
INSERT INTO new_ref_moves (id, push_id, project_id, ref, old_id, new_id, state)
  SELECT id, push_id, project_id, ref, old_id, new_id, state FROM ref_moves;
INSERT INTO new_pushes (id, repository_id, user_id, via, process, state, created_at, closed_at)
  SELECT push + id, repository_id, user_id, iif(process IS NULL, 'api', 'push'), process,
    iif(state = 'open', 'open', 'closed'), created_at, closed_at
  FROM side_moves, last_numbers;
INSERT INTO new_ref_moves (id, push_id, repository_id, ref, old_id, new_id, state)
  SELECT move + id, push + id, repository_id, ref, old_id, new_id, state
  FROM side_moves, last_numbers;
INSERT INTO wiki_renames (push_id, from_path, to_path)
  SELECT push + id, from_path, to_path FROM side_moves, last_numbers WHERE from_path IS NOT NULL;

DROP TABLE side_moves;
DROP TABLE ref_moves;
DROP TABLE pushes;
ALTER TABLE new_pushes RENAME TO pushes;
ALTER TABLE new_ref_moves RENAME TO ref_moves;
INSERT INTO sqlite_sequence (name, seq) SELECT 'pushes', push FROM last_numbers
  WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'pushes');
INSERT INTO sqlite_sequence (name, seq) SELECT 'ref_moves', move FROM last_numbers
  WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'ref_moves');
UPDATE sqlite_sequence SET seq = max(seq, (SELECT push FROM last_numbers)) WHERE name = 'pushes';
UPDATE sqlite_sequence SET seq = max(seq, (SELECT move FROM last_numbers)) WHERE name = 'ref_moves';
DROP TABLE last_numbers;

CREATE INDEX pushes_open ON pushes (id) WHERE state = 'open';
CREATE INDEX pushes_project ON pushes (project_id, id);
CREATE INDEX pushes_repository ON pushes (repository_id, id) WHERE repository_id IS NOT NULL;
CREATE INDEX pushes_user ON pushes (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX ref_moves_push ON ref_moves (push_id);
CREATE INDEX ref_moves_ref ON ref_moves (project_id, ref, id);
CREATE INDEX ref_moves_repository_ref ON ref_moves (repository_id, ref, id)
  WHERE repository_id IS NOT NULL;

DELETE FROM tasks WHERE name = 'side_repositories.recover';
DELETE FROM schedules WHERE name = 'side_repositories.recover';
UPDATE tasks SET name = 'wikis_and_snippets.measure' WHERE name = 'side_repositories.measure';
UPDATE tasks SET name = 'wikis_and_snippets.tidy' WHERE name = 'side_repositories.tidy';
`,
}
