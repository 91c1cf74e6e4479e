import type { Migration } from '../migration.ts'

/** Topics of projects, what is known of their content, and how often they are fetched. */
export const spaces: Migration = {
  name: '0003-spaces',
  sql: `
-- A group that is being removed: nobody finds it any more.
ALTER TABLE namespaces ADD COLUMN pending_delete INTEGER NOT NULL DEFAULT 0
  CHECK (pending_delete IN (0, 1));

CREATE TABLE project_topics (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  topic_id INTEGER NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  PRIMARY KEY (project_id, topic_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_topics_topic ON project_topics (topic_id, project_id);

CREATE TABLE project_facts (
  project_id INTEGER NOT NULL PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  commit_id TEXT NOT NULL,
  readme_path TEXT,
  license_path TEXT,
  license_key TEXT,
  languages TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(languages)),
  commit_count INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE project_fetches (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (project_id, day)
) STRICT, WITHOUT ROWID;
`,
}
