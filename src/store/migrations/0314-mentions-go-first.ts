import type { Migration } from '../migration.ts'

/**
 * A note that says where something was mentioned goes with what tells its place, which goes with the project of that place,
 * in pieces and before its row: else anybody could read the note.
 */
export const mentionsGoFirst: Migration = {
  name: '0314-mentions-go-first',
  sql: `
DROP TRIGGER projects_deleted_mentions;
CREATE TRIGGER cross_references_deleted AFTER DELETE ON cross_references BEGIN
  DELETE FROM notes WHERE id = old.note_id;
END;
`,
}
