import type { Migration } from '../migration.ts'

/** Variables of the instance, of groups and of projects, which jobs get. */
export const ciVariables: Migration = {
  name: '0162-ci-variables',
  sql: `
CREATE TABLE ci_variables (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  sealed_value TEXT NOT NULL,
  variable_type TEXT NOT NULL DEFAULT 'env_var' CHECK (variable_type IN ('env_var', 'file')),
  protected INTEGER NOT NULL DEFAULT 0 CHECK (protected IN (0, 1)),
  masked INTEGER NOT NULL DEFAULT 0 CHECK (masked IN (0, 1)),
  hidden INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
  raw INTEGER NOT NULL DEFAULT 0 CHECK (raw IN (0, 1)),
  environment_scope TEXT NOT NULL DEFAULT '*',
  description TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK (group_id IS NULL OR project_id IS NULL)
) STRICT;
CREATE UNIQUE INDEX ci_variables_key
  ON ci_variables (coalesce(group_id, 0), coalesce(project_id, 0), key, environment_scope);
CREATE INDEX ci_variables_group ON ci_variables (group_id) WHERE group_id IS NOT NULL;
CREATE INDEX ci_variables_project ON ci_variables (project_id) WHERE project_id IS NOT NULL;
`,
}
