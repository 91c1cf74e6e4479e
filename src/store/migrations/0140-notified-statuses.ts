import type { Migration } from '../migration.ts'

/** A table gets the name of what it holds: the statuses that hooks were notified of. */
export const notifiedStatuses: Migration = {
  name: '0140-notified-statuses',
  sql: `
ALTER TABLE told_statuses RENAME TO notified_statuses;
DROP INDEX told_statuses_by_pipeline;
CREATE INDEX notified_statuses_by_pipeline ON notified_statuses (pipeline_id);
`,
}
