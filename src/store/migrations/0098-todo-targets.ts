import type { Migration } from '../migration.ts'

/** To-dos about commits, which have no number, and about groups. */
export const todoTargets: Migration = {
  name: '0098-todo-targets',
  sql: `
ALTER TABLE todos ADD COLUMN commit_id TEXT;
ALTER TABLE todos ADD COLUMN group_id INTEGER REFERENCES namespaces (id) ON DELETE CASCADE;
CREATE INDEX todos_by_group ON todos (group_id) WHERE group_id IS NOT NULL;
`,
}
