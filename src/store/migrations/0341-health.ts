import type { Migration } from '../migration.ts'

/** What the daily looks at the data have found, with the newest last. */
export const health: Migration = {
  name: '0341-health',
  sql: `
CREATE TABLE health_checks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  state TEXT NOT NULL CHECK (state IN ('ok', 'warning', 'failure')),
  started_at TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  findings TEXT NOT NULL DEFAULT '[]'
) STRICT;
`,
}
