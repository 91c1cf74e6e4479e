import type { Migration } from '../migration.ts'

/** What was taken in before an error was resolved may be written after it: moments tell, and ids of rows do not. */
export const momentsOfResolving: Migration = {
  name: '0297-moments-of-resolving',
  sql: `
ALTER TABLE errors ADD COLUMN resolved_at TEXT;
ALTER TABLE errors DROP COLUMN resolved_after;
`,
}
