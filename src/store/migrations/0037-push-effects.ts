import type { Migration } from '../migration.ts'

/** Which effects of a push are done, for those that must not happen twice. */
export const pushEffects: Migration = {
  name: '0037-push-effects',
  sql: `
CREATE TABLE push_effects (
  push_id INTEGER NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
  effect TEXT NOT NULL,
  PRIMARY KEY (push_id, effect)
) STRICT, WITHOUT ROWID;
`,
}
