export const issuesTables = `
CREATE TABLE issues (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  iid INTEGER NOT NULL,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  description TEXT,
  state TEXT NOT NULL DEFAULT 'opened' CHECK (state IN ('opened', 'closed')),
  issue_type TEXT NOT NULL DEFAULT 'issue' CHECK (issue_type IN ('issue', 'incident', 'test_case', 'task')),
  author_id INTEGER REFERENCES users (id),
  milestone_id INTEGER REFERENCES milestones (id) ON DELETE SET NULL,
  confidential INTEGER NOT NULL DEFAULT 0 CHECK (confidential IN (0, 1)),
  discussion_locked INTEGER CHECK (discussion_locked IN (0, 1)),
  weight INTEGER,
  severity TEXT NOT NULL DEFAULT 'UNKNOWN',
  start_date TEXT,
  due_date TEXT,
  time_estimate INTEGER NOT NULL DEFAULT 0,
  relative_position INTEGER,
  moved_to_id INTEGER REFERENCES issues (id) ON DELETE SET NULL,
  duplicated_to_id INTEGER REFERENCES issues (id) ON DELETE SET NULL,
  closed_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  closed_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX issues_by_iid ON issues (project_id, iid);
CREATE INDEX issues_by_author ON issues (author_id);
CREATE INDEX issues_by_milestone ON issues (milestone_id) WHERE milestone_id IS NOT NULL;
CREATE INDEX issues_by_closed_by ON issues (closed_by_id) WHERE closed_by_id IS NOT NULL;
CREATE INDEX issues_by_duplicated_to ON issues (duplicated_to_id) WHERE duplicated_to_id IS NOT NULL;
CREATE INDEX issues_by_moved_to ON issues (moved_to_id) WHERE moved_to_id IS NOT NULL;
CREATE INDEX issues_by_position ON issues (project_id, relative_position) WHERE relative_position IS NOT NULL;
CREATE INDEX issues_by_created ON issues (project_id, state, created_at, id, confidential, author_id);
CREATE INDEX issues_by_age ON issues (project_id, created_at, id, confidential, author_id);
CREATE INDEX issues_by_updated ON issues (project_id, updated_at, id, confidential, author_id);
CREATE INDEX issues_of_all ON issues (created_at, id);
CREATE INDEX issues_of_all_by_change ON issues (updated_at, id);
CREATE INDEX issues_without_position ON issues (project_id, id) WHERE relative_position IS NULL;

CREATE TRIGGER issues_deleted AFTER DELETE ON issues BEGIN
  DELETE FROM notes WHERE noteable_type = 'Issue' AND noteable_id = old.id;
  DELETE FROM label_links WHERE subject_type = 'issue' AND subject_id = old.id;
  DELETE FROM assignees WHERE subject_type = 'issue' AND subject_id = old.id;
  DELETE FROM award_emoji WHERE awardable_type = 'Issue' AND awardable_id = old.id;
  DELETE FROM todos WHERE target_type = 'Issue' AND target_id = old.id;
  DELETE FROM timelogs WHERE subject_type = 'issue' AND subject_id = old.id;
  DELETE FROM resource_events WHERE subject_type = 'issue' AND subject_id = old.id;
  DELETE FROM subscriptions WHERE subject_type = 'issue' AND subject_id = old.id;
END;

CREATE TRIGGER issues_deleted_mentions AFTER DELETE ON issues BEGIN
  DELETE FROM mentions WHERE subject_type = 'Issue' AND subject_id = old.id;
END;

CREATE TRIGGER issues_deleted_user_agents AFTER DELETE ON issues BEGIN
  DELETE FROM user_agents WHERE subject_type = 'Issue' AND subject_id = old.id;
END;

CREATE TABLE issue_links (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  target_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  link_type TEXT NOT NULL CHECK (link_type IN ('relates_to', 'blocks')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX issue_links_by_pair ON issue_links (source_id, target_id);
CREATE INDEX issue_links_by_target ON issue_links (target_id);

CREATE TABLE assignees (
  subject_type TEXT NOT NULL CHECK (subject_type IN ('issue', 'merge_request')),
  subject_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  PRIMARY KEY (subject_type, subject_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX assignees_by_user ON assignees (user_id, subject_type, subject_id);

CREATE TABLE notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  noteable_type TEXT NOT NULL CHECK (noteable_type IN ('Issue', 'MergeRequest', 'Snippet', 'Commit', 'Alert')),
  noteable_id INTEGER,
  commit_id TEXT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  discussion_id TEXT NOT NULL,
  type TEXT CHECK (type IN ('DiscussionNote', 'DiffNote')),
  body TEXT NOT NULL,
  author_id INTEGER REFERENCES users (id),
  system INTEGER NOT NULL DEFAULT 0 CHECK (system IN (0, 1)),
  system_action TEXT,
  internal INTEGER NOT NULL DEFAULT 0 CHECK (internal IN (0, 1)),
  resolvable INTEGER NOT NULL DEFAULT 0 CHECK (resolvable IN (0, 1)),
  resolved_at TEXT,
  resolved_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  position TEXT CHECK (position IS NULL OR json_valid(position)),
  original_position TEXT CHECK (original_position IS NULL OR json_valid(original_position)),
  line_code TEXT,
  updated_by_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((noteable_type = 'Commit') = (noteable_id IS NULL))
) STRICT;
CREATE INDEX notes_by_noteable ON notes (noteable_type, noteable_id, created_at, id);
CREATE INDEX notes_by_discussion ON notes (discussion_id, id);
CREATE INDEX notes_by_author ON notes (author_id);
CREATE INDEX notes_by_updated_by ON notes (updated_by_id) WHERE updated_by_id IS NOT NULL;
CREATE INDEX notes_by_resolved_by ON notes (resolved_by_id) WHERE resolved_by_id IS NOT NULL;
CREATE INDEX notes_by_project ON notes (project_id, commit_id);

CREATE TRIGGER notes_deleted AFTER DELETE ON notes BEGIN
  DELETE FROM award_emoji WHERE awardable_type = 'Note' AND awardable_id = old.id;
END;

CREATE TRIGGER notes_take_todos BEFORE DELETE ON notes BEGIN
  DELETE FROM todos WHERE note_id = old.id;
END;

CREATE TABLE award_emoji (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  awardable_type TEXT NOT NULL CHECK (awardable_type IN ('Issue', 'MergeRequest', 'Snippet', 'Note')),
  awardable_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX award_emoji_by_awardable ON award_emoji (awardable_type, awardable_id, user_id, name);
CREATE INDEX award_emoji_by_user ON award_emoji (user_id);

CREATE TABLE todos (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  author_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  target_type TEXT NOT NULL,
  target_id INTEGER NOT NULL,
  action_name TEXT NOT NULL,
  note_id INTEGER REFERENCES notes (id) ON DELETE SET NULL,
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'done')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  commit_id TEXT,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX todos_by_user ON todos (user_id, state, id);
CREATE INDEX todos_by_target ON todos (target_type, target_id);
CREATE INDEX todos_by_note ON todos (note_id) WHERE note_id IS NOT NULL;
CREATE INDEX todos_by_author ON todos (author_id) WHERE author_id IS NOT NULL;
CREATE INDEX todos_by_project ON todos (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX todos_by_group ON todos (group_id) WHERE group_id IS NOT NULL;

CREATE TABLE timelogs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  subject_type TEXT NOT NULL CHECK (subject_type IN ('issue', 'merge_request')),
  subject_id INTEGER NOT NULL,
  user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  seconds INTEGER NOT NULL,
  summary TEXT,
  spent_at TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX timelogs_by_subject ON timelogs (subject_type, subject_id);
CREATE INDEX timelogs_by_user ON timelogs (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE resource_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('label', 'milestone', 'state', 'weight')),
  subject_type TEXT NOT NULL CHECK (subject_type IN ('issue', 'merge_request')),
  subject_id INTEGER NOT NULL,
  user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  action TEXT,
  label_id INTEGER REFERENCES labels (id) ON DELETE SET NULL,
  milestone_id INTEGER REFERENCES milestones (id) ON DELETE SET NULL,
  state TEXT,
  weight INTEGER,
  source_commit TEXT,
  source_merge_request_id INTEGER,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX resource_events_by_subject ON resource_events (subject_type, subject_id, kind, id);
CREATE INDEX resource_events_by_milestone ON resource_events (milestone_id) WHERE milestone_id IS NOT NULL;
CREATE INDEX resource_events_by_label ON resource_events (label_id) WHERE label_id IS NOT NULL;
CREATE INDEX resource_events_by_user ON resource_events (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  author_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  action_name TEXT NOT NULL,
  target_type TEXT,
  target_id INTEGER,
  target_iid INTEGER,
  target_title TEXT,
  push_data TEXT CHECK (push_data IS NULL OR json_valid(push_data)),
  note_id INTEGER REFERENCES notes (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_project ON events (project_id, id);
CREATE INDEX events_by_author ON events (author_id, id);
CREATE INDEX events_by_note ON events (note_id) WHERE note_id IS NOT NULL;

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

CREATE TRIGGER cross_references_deleted AFTER DELETE ON cross_references BEGIN
  DELETE FROM notes WHERE id = old.note_id;
END;

CREATE TABLE user_agents (
  subject_type TEXT NOT NULL CHECK (subject_type IN ('Issue', 'Snippet')),
  subject_id INTEGER NOT NULL,
  user_agent TEXT NOT NULL,
  ip_address TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (subject_type, subject_id)
) STRICT, WITHOUT ROWID;
`
