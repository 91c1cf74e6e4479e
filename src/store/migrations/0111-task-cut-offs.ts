import type { Migration } from '../migration.ts'

/** How often the process ended while a task ran: no fault of the task's, most likely, and no attempt. */
export const taskCutOffs: Migration = {
  name: '0111-task-cut-offs',
  sql: `
ALTER TABLE tasks ADD COLUMN cut_offs INTEGER NOT NULL DEFAULT 0 CHECK (cut_offs >= 0);
`,
}
