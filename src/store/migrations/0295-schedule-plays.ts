import type { Migration } from '../migration.ts'

/** Each run of a schedule by hand is a row of its own, so that two at once are two. */
export const schedulePlays: Migration = {
  name: '0295-schedule-plays',
  sql: `
CREATE TABLE ci_schedule_plays (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  schedule_id INTEGER NOT NULL REFERENCES ci_schedules (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX ci_schedule_plays_schedule ON ci_schedule_plays (schedule_id);
ALTER TABLE ci_schedules DROP COLUMN played_at;
`,
}
