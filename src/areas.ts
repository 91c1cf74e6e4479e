import { ciArea } from './ci/manifest.ts'
import { discussionsArea } from './discussions/manifest.ts'
import { identityArea } from './identity/manifest.ts'
import { instanceArea } from './instance/manifest.ts'
import type { Manifest } from './manifest.ts'
import { monitoringArea } from './monitoring/manifest.ts'
import { notificationsArea } from './notifications/manifest.ts'
import { packagesArea } from './packages/manifest.ts'
import { planningArea } from './planning/manifest.ts'
import { projectsArea } from './projects/manifest.ts'
import { publishingArea } from './publishing/manifest.ts'
import { repositoriesArea } from './repositories/manifest.ts'
import { reviewArea } from './review/manifest.ts'
import { baseMigrations } from './store/migrations.ts'

/** The areas in their order: each may import those before it. */
export const areas: readonly Manifest[] = [
  identityArea,
  projectsArea,
  repositoriesArea,
  discussionsArea,
  planningArea,
  reviewArea,
  publishingArea,
  ciArea,
  packagesArea,
  monitoringArea,
  notificationsArea,
  instanceArea,
]

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
