import type { Migration } from '../migration.ts'

/** Tags of images are found in the order of their pushes, some at a time. */
export const pushedTags: Migration = {
  name: '0304-pushed-tags',
  sql: `
CREATE INDEX container_tags_pushed ON container_tags (repository_id, created_at, id);
`,
}
