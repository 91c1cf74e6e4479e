import type { Migration } from './migration.ts'
import { baseline } from './migrations/0340-baseline.ts'

/**
 * The first schema. What an area adds later stands in its manifest. Once released, a migration is never edited, only
 * followed by another.
 */
export const baseMigrations: readonly Migration[] = [baseline]
