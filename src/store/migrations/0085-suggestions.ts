import type { Migration } from '../migration.ts'

/** Changes that comments on lines of merge requests propose (docs/contract/D §1.11). */
export const suggestions: Migration = {
  name: '0085-suggestions',
  sql: `
CREATE TABLE suggestions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  note_id INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
  relative_order INTEGER NOT NULL,
  lines_above INTEGER NOT NULL,
  lines_below INTEGER NOT NULL,
  from_content TEXT NOT NULL,
  to_content TEXT NOT NULL,
  commit_id TEXT,
  applied_at TEXT
) STRICT;
CREATE UNIQUE INDEX suggestions_by_note ON suggestions (note_id, relative_order);
`,
}
