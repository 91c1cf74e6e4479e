export const releasesTables = `
CREATE TABLE releases (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  sha TEXT,
  name TEXT NOT NULL,
  description TEXT,
  author_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  released_at TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX releases_by_tag ON releases (project_id, tag);
CREATE INDEX releases_by_date ON releases (project_id, released_at, id);
CREATE INDEX releases_by_author ON releases (author_id) WHERE author_id IS NOT NULL;

CREATE TABLE release_links (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  release_id INTEGER NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  filepath TEXT,
  link_type TEXT NOT NULL DEFAULT 'other' CHECK (link_type IN ('other', 'runbook', 'image', 'package')),
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX release_links_by_name ON release_links (release_id, name);
CREATE UNIQUE INDEX release_links_by_url ON release_links (release_id, url);
CREATE UNIQUE INDEX release_links_by_filepath ON release_links (release_id, filepath) WHERE filepath IS NOT NULL;

CREATE TABLE release_milestones (
  release_id INTEGER NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
  milestone_id INTEGER NOT NULL REFERENCES milestones (id) ON DELETE CASCADE,
  PRIMARY KEY (release_id, milestone_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX release_milestones_by_milestone ON release_milestones (milestone_id);

CREATE TABLE release_evidences (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  release_id INTEGER NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
  summary TEXT NOT NULL CHECK (json_valid(summary)),
  sha TEXT NOT NULL,
  collected_at TEXT NOT NULL
) STRICT;
CREATE INDEX release_evidences_by_release ON release_evidences (release_id, id);
`
