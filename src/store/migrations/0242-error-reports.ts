import type { Migration } from '../migration.ts'

/** Reports that wait to be counted, and smaller rows of what is kept: their payload has the rest. */
export const errorReports: Migration = {
  name: '0242-error-reports',
  sql: `
CREATE TABLE error_reports (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  received_at TEXT NOT NULL,
  event TEXT NOT NULL CHECK (json_valid(event)),
  payload BLOB NOT NULL
) STRICT;
CREATE INDEX error_reports_by_project ON error_reports (project_id, id);

CREATE TABLE error_event_ids (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  event_id TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX error_event_ids_key ON error_event_ids (project_id, event_id);
CREATE INDEX error_event_ids_by_project ON error_event_ids (project_id, id);

ALTER TABLE error_events DROP COLUMN kept;
ALTER TABLE error_events DROP COLUMN occurred_at;
ALTER TABLE error_events DROP COLUMN level;
ALTER TABLE error_events DROP COLUMN environment;
ALTER TABLE error_events DROP COLUMN release;
ALTER TABLE error_events DROP COLUMN description;
`,
}
