import type { Migration } from '../migration.ts'

/**
 * All rows that name a project or a user are found by it: whoever deletes one would look at every comment, or every
 * namespace, that there is.
 */
export const wholeKeys: Migration = {
  name: '0310-whole-keys',
  sql: `
DROP INDEX notes_by_commit;
CREATE INDEX notes_by_project ON notes (project_id, commit_id);
DROP INDEX namespaces_owner_key;
CREATE UNIQUE INDEX namespaces_owner_key ON namespaces (owner_id) WHERE owner_id IS NOT NULL;
`,
}
