import type { Migration } from '../migration.ts'

/** Who is mentioned where, and which notes say that something was mentioned elsewhere. */
export const mentions: Migration = {
  name: '0096-mentions',
  sql: `
CREATE TABLE mentions (
  subject_type TEXT NOT NULL CHECK (subject_type IN ('Issue', 'MergeRequest')),
  subject_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  PRIMARY KEY (subject_type, subject_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_by_user ON mentions (user_id);

CREATE TABLE cross_references (
  note_id INTEGER PRIMARY KEY REFERENCES notes (id) ON DELETE CASCADE,
  source_type TEXT NOT NULL CHECK (source_type IN ('Issue', 'MergeRequest', 'Commit')),
  source_id INTEGER,
  source_commit TEXT,
  source_project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  CHECK ((source_type = 'Commit') = (source_id IS NULL)),
  CHECK ((source_type = 'Commit') = (source_commit IS NOT NULL))
) STRICT;
CREATE INDEX cross_references_by_source ON cross_references (source_project_id, source_type, source_id, source_commit);

CREATE TRIGGER issues_deleted_mentions AFTER DELETE ON issues BEGIN
  DELETE FROM mentions WHERE subject_type = 'Issue' AND subject_id = old.id;
END;
CREATE TRIGGER merge_requests_deleted_mentions AFTER DELETE ON merge_requests BEGIN
  DELETE FROM mentions WHERE subject_type = 'MergeRequest' AND subject_id = old.id;
END;
`,
}
