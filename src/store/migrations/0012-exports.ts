import type { Migration } from '../migration.ts'

/** Exports of projects and groups. */
export const exportTables: Migration = {
  name: '0012-exports',
  sql: `
CREATE TABLE exports (
  source_type TEXT NOT NULL CHECK (source_type IN ('group', 'project')),
  source_id INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'queued' CHECK (status IN
    ('queued', 'started', 'finished', 'failed')),
  description TEXT,
  file TEXT,
  size INTEGER,
  requested_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  finished_at TEXT,
  PRIMARY KEY (source_type, source_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX exports_requested_by ON exports (requested_by_id) WHERE requested_by_id IS NOT NULL;
CREATE TRIGGER projects_exports AFTER DELETE ON projects BEGIN
  DELETE FROM exports WHERE source_type = 'project' AND source_id = OLD.id;
END;
CREATE TRIGGER namespaces_exports AFTER DELETE ON namespaces BEGIN
  DELETE FROM exports WHERE source_type = 'group' AND source_id = OLD.id;
END;
`,
}
