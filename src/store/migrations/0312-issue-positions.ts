import type { Migration } from '../migration.ts'

/** Issues that nobody has put into an order yet are found without those that have a place: each move on a board asks. */
export const issuePositions: Migration = {
  name: '0312-issue-positions',
  sql: `
CREATE INDEX issues_without_position ON issues (project_id, id) WHERE relative_position IS NULL;
`,
}
