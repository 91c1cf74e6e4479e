export const spacesTables = `
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
  left_out TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(left_out)),
  PRIMARY KEY (source_type, source_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX exports_requested_by ON exports (requested_by_id) WHERE requested_by_id IS NOT NULL;

CREATE TABLE badges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  name TEXT,
  link_url TEXT NOT NULL,
  image_url TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((project_id IS NULL) <> (group_id IS NULL))
) STRICT;
CREATE INDEX badges_by_project ON badges (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX badges_by_group ON badges (group_id) WHERE group_id IS NOT NULL;

CREATE TABLE import_left_out (
  project_id INTEGER NOT NULL PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  relations TEXT NOT NULL CHECK (json_valid(relations)),
  created_at TEXT NOT NULL
) STRICT;
`
