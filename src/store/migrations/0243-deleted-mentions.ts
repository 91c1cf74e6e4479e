import type { Migration } from '../migration.ts'

/** A note that says where something was mentioned goes with the project of that place: else anybody could read it. */
export const deletedMentions: Migration = {
  name: '0243-deleted-mentions',
  sql: `
CREATE TRIGGER projects_deleted_mentions BEFORE DELETE ON projects BEGIN
  DELETE FROM notes WHERE id IN (SELECT note_id FROM cross_references WHERE source_project_id = old.id);
END;
`,
}
