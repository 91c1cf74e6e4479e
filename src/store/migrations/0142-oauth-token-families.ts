import type { Migration } from '../migration.ts'

/** Tokens that came of one sign-in by refreshing: the first of them. */
export const oauthTokenFamilies: Migration = {
  name: '0142-oauth-token-families',
  sql: `
ALTER TABLE oauth_tokens ADD COLUMN family_id INTEGER;
CREATE INDEX oauth_tokens_family ON oauth_tokens (family_id) WHERE family_id IS NOT NULL;
`,
}
