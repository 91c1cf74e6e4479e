import type { Migration } from '../migration.ts'

/** Finalized pushes whose effects are still to come: those of a burst are applied together. */
export const waitingPushes: Migration = {
  name: '0110-waiting-pushes',
  sql: `
CREATE TABLE waiting_pushes (
  push_id INTEGER PRIMARY KEY REFERENCES pushes (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL
) STRICT;
CREATE INDEX waiting_pushes_by_project ON waiting_pushes (project_id, push_id);
`,
}
