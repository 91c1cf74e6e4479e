export const boardsTables = `
CREATE TABLE boards (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hide_backlog_list INTEGER NOT NULL DEFAULT 0 CHECK (hide_backlog_list IN (0, 1)),
  hide_closed_list INTEGER NOT NULL DEFAULT 0 CHECK (hide_closed_list IN (0, 1)),
  milestone_id INTEGER REFERENCES milestones (id) ON DELETE SET NULL,
  assignee_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  weight INTEGER,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((project_id IS NULL) <> (group_id IS NULL))
) STRICT;
CREATE INDEX boards_by_project ON boards (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX boards_by_group ON boards (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX boards_by_milestone ON boards (milestone_id) WHERE milestone_id IS NOT NULL;
CREATE INDEX boards_by_assignee ON boards (assignee_id) WHERE assignee_id IS NOT NULL;

CREATE TABLE board_labels (
  board_id INTEGER NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
  label_id INTEGER NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
  PRIMARY KEY (board_id, label_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX board_labels_by_label ON board_labels (label_id);

CREATE TABLE board_lists (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  board_id INTEGER NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
  label_id INTEGER REFERENCES labels (id) ON DELETE CASCADE,
  assignee_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  milestone_id INTEGER REFERENCES milestones (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK ((label_id IS NOT NULL) + (assignee_id IS NOT NULL) + (milestone_id IS NOT NULL) = 1)
) STRICT;
CREATE UNIQUE INDEX board_lists_by_label ON board_lists (label_id, board_id) WHERE label_id IS NOT NULL;
CREATE UNIQUE INDEX board_lists_by_assignee ON board_lists (assignee_id, board_id) WHERE assignee_id IS NOT NULL;
CREATE UNIQUE INDEX board_lists_by_milestone ON board_lists (milestone_id, board_id) WHERE milestone_id IS NOT NULL;
CREATE INDEX board_lists_by_board ON board_lists (board_id, position);

CREATE TRIGGER board_lists_close_ranks AFTER DELETE ON board_lists BEGIN
  UPDATE board_lists SET position = position - 1 WHERE board_id = old.board_id AND position > old.position;
END;
`
