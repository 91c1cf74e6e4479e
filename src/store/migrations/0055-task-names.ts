import type { Migration } from '../migration.ts'

/** Due tasks by their names: a backlog of one kind must not be read to find one of another. */
export const taskNames: Migration = {
  name: '0055-task-names',
  sql: `
CREATE INDEX tasks_by_name ON tasks (name, run_at, id) WHERE state = 'ready';
`,
}
