import type { Migration } from '../migration.ts'

/** The effect that notes that the followers of a push were notified gets the name of what it is. */
export const followedPushes: Migration = {
  name: '0362-followed-pushes',
  sql: `
UPDATE push_effects SET effect = 'followed' WHERE effect = 'told';
`,
}
