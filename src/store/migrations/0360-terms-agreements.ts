import type { Migration } from '../migration.ts'

/** Who has accepted which terms of service, and when; other words are other terms. */
export const termsAgreements: Migration = {
  name: '0360-terms-agreements',
  sql: `
CREATE TABLE terms_agreements (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  digest TEXT NOT NULL,
  accepted_at TEXT NOT NULL,
  PRIMARY KEY (user_id, digest)
) STRICT, WITHOUT ROWID;
`,
}
