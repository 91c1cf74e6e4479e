import type { Migration } from '../migration.ts'

/** Metadata documents of npm say of which versions they are; those that were made before are made again. */
export const npmRevisions: Migration = {
  name: '0333-npm-revisions',
  sql: `
DELETE FROM package_documents WHERE package_type = 'npm';
`,
}
