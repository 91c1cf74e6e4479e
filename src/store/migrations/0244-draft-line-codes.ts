import type { Migration } from '../migration.ts'

/** Where in the diff a draft is, as its note will say; drafts from before have none until they are placed anew. */
export const draftLineCodes: Migration = {
  name: '0244-draft-line-codes',
  sql: `
ALTER TABLE draft_notes ADD COLUMN line_code TEXT;
`,
}
