import { apiManifest } from './api/manifest.ts'
import { ci } from './ci/manifest.ts'
import type { Manifest } from './manifest.ts'
import { packages } from './packages/manifest.ts'
import { baseMigrations } from './store/migrations.ts'

/** The areas in their order: each may import those before it. */
export const areas: readonly Manifest[] = [apiManifest, ci, packages]

/** Every endpoint of the server. */
export const apiEndpoints = areas.flatMap((area) => area.endpoints)

/** Every background task that the runner may find in the table. */
export const tasks = areas.flatMap((area) => area.tasks)

/** What comes round by the clock. */
export const schedules = areas.flatMap((area) => area.schedules)

/** Every migration, in the order of its number and name. */
export const migrations = [...baseMigrations, ...areas.flatMap((area) => area.migrations)].sort(
  (one, other) => (one.name < other.name ? -1 : 1),
)
