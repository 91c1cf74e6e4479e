import type { Migration } from '../migration.ts'

/** From where and with what issues and snippets were made, for administrators who look for abuse. */
export const userAgents: Migration = {
  name: '0097-user-agents',
  sql: `
CREATE TABLE user_agents (
  subject_type TEXT NOT NULL CHECK (subject_type IN ('Issue', 'Snippet')),
  subject_id INTEGER NOT NULL,
  user_agent TEXT NOT NULL,
  ip_address TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (subject_type, subject_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX issues_by_position ON issues (project_id, relative_position) WHERE relative_position IS NOT NULL;

CREATE TRIGGER issues_deleted_user_agents AFTER DELETE ON issues BEGIN
  DELETE FROM user_agents WHERE subject_type = 'Issue' AND subject_id = old.id;
END;
`,
}
