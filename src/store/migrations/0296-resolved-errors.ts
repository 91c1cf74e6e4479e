import type { Migration } from '../migration.ts'

/** What was reported before an error was resolved, and is counted later, does not open it again. */
export const resolvedErrors: Migration = {
  name: '0296-resolved-errors',
  sql: 'ALTER TABLE errors ADD COLUMN resolved_after INTEGER;',
}
