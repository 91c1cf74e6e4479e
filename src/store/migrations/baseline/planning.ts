export const planningTables = `
CREATE TABLE labels (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  color TEXT NOT NULL,
  description TEXT,
  archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((project_id IS NULL) <> (group_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX labels_by_project_title ON labels (project_id, title) WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX labels_by_group_title ON labels (group_id, title) WHERE group_id IS NOT NULL;

CREATE TABLE label_priorities (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  label_id INTEGER NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
  priority INTEGER NOT NULL,
  PRIMARY KEY (project_id, label_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX label_priorities_by_label ON label_priorities (label_id);

CREATE TABLE label_links (
  subject_type TEXT NOT NULL CHECK (subject_type IN ('issue', 'merge_request')),
  subject_id INTEGER NOT NULL,
  label_id INTEGER NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
  PRIMARY KEY (subject_type, subject_id, label_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX label_links_by_label ON label_links (label_id, subject_type, subject_id);

CREATE TABLE milestones (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  iid INTEGER NOT NULL,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  description TEXT,
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'closed')),
  start_date TEXT,
  due_date TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((project_id IS NULL) <> (group_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX milestones_by_project_title ON milestones (project_id, title) WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX milestones_by_group_title ON milestones (group_id, title) WHERE group_id IS NOT NULL;
CREATE UNIQUE INDEX milestones_by_project_iid ON milestones (project_id, iid) WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX milestones_by_group_iid ON milestones (group_id, iid) WHERE group_id IS NOT NULL;

CREATE TABLE subscriptions (
  subject_type TEXT NOT NULL CHECK (subject_type IN ('issue', 'merge_request', 'label')),
  subject_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  subscribed INTEGER NOT NULL CHECK (subscribed IN (0, 1)),
  created_at TEXT NOT NULL,
  PRIMARY KEY (subject_type, subject_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscriptions_by_user ON subscriptions (user_id);
`
