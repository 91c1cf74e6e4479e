import type { Migration } from '../migration.ts'

/** People tell their sessions apart by the browser. */
export const browsersOfSessions: Migration = {
  name: '0350-browsers-of-sessions',
  sql: `
ALTER TABLE sessions ADD COLUMN user_agent TEXT;
`,
}
