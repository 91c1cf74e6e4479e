import type { Migration } from '../migration.ts'

/** Pages of wikis as the feed names them; what they say is in their repository. */
export const wikiPages: Migration = {
  name: '0081-wiki-pages',
  sql: `
CREATE TABLE wiki_pages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository_id INTEGER NOT NULL REFERENCES side_repositories (id) ON DELETE CASCADE,
  slug TEXT NOT NULL,
  path TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX wiki_pages_key ON wiki_pages (repository_id, slug);
`,
}
