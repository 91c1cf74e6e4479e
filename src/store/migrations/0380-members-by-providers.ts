import type { Migration } from '../migration.ts'

/** A membership that a sign-in provider gave is the provider's to change and to end; others are not. */
export const membersByProviders: Migration = {
  name: '0380-members-by-providers',
  sql: `
ALTER TABLE members ADD COLUMN provider TEXT;
`,
}
