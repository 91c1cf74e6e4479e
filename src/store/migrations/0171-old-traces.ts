import type { Migration } from '../migration.ts'

/** Logs that were put away, by their age: old ones are looked for again and again. */
export const oldTraces: Migration = {
  name: '0171-old-traces',
  sql: `
CREATE INDEX ci_traces_stored ON ci_traces (updated_at) WHERE sha256 IS NOT NULL;
`,
}
