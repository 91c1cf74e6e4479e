import type { Migration } from '../migration.ts'

/** The statuses of pipelines and jobs that hooks have heard of, so that each change is told once. */
export const toldStatuses: Migration = {
  name: '0099-told-statuses',
  sql: `
CREATE TABLE told_statuses (
  kind TEXT NOT NULL CHECK (kind IN ('pipeline', 'job')),
  id INTEGER NOT NULL,
  pipeline_id INTEGER NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX told_statuses_by_pipeline ON told_statuses (pipeline_id);
`,
}
