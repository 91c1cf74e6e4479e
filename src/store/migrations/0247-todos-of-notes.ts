import type { Migration } from '../migration.ts'

/** A comment takes the to-dos with it that it brought. */
export const todosOfNotes: Migration = {
  name: '0247-todos-of-notes',
  sql: `
CREATE TRIGGER notes_take_todos BEFORE DELETE ON notes BEGIN
  DELETE FROM todos WHERE note_id = old.id;
END;
`,
}
