import type { Migration } from '../migration.ts'

/** Which hooks were told of an event is asked where a request says that it answers one. */
export const chainsOfEvents: Migration = {
  name: '0290-chains-of-events',
  sql: `
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_uuid);
`,
}
