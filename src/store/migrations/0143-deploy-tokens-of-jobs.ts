import type { Migration } from '../migration.ts'

/** The secret of a deploy token that jobs are given; all others are kept as a digest alone. */
export const deployTokensOfJobs: Migration = {
  name: '0143-deploy-tokens-of-jobs',
  sql: `
ALTER TABLE deploy_tokens ADD COLUMN sealed_secret TEXT;
`,
}
