import type { Schedule } from './background/schedule.ts'
import type { AnyTask } from './background/task.ts'
import type { Ctx } from './ctx.ts'
import { type Endpoint, formsOf } from './http/endpoint.ts'
import type { Migration } from './store/migration.ts'

/** What an area brings: `areas.ts` lists the areas, everything else is derived from their manifests. */
export interface Manifest {
  /** The name of its folder. */
  readonly name: string
  readonly endpoints: readonly Endpoint[]
  /** Background tasks that the runner may find in the table. */
  readonly tasks: readonly AnyTask<Ctx>[]
  readonly schedules: readonly Schedule[]
  /** Its migrations below store/migrations; once released, one is never edited, only followed by another. */
  readonly migrations: readonly Migration[]
}

/** The endpoints that the modules of an area export: `endpointsOf(labels, milestones)`. */
export function endpointsOf(...modules: readonly Readonly<Record<string, unknown>>[]): Endpoint[] {
  return modules.flatMap((module) =>
    Object.values(module).flat().filter(isEndpoint).flatMap(formsOf),
  )
}

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'handler' in value && 'path' in value
}
