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

type Module = Readonly<Record<string, unknown>>

/** The endpoints that the modules of an area export, by the tag of those that name none: `endpointsOf({ labels })`. */
export function endpointsOf(
  modules: Readonly<Record<string, Module | readonly Module[]>>,
): Endpoint[] {
  return Object.entries(modules).flatMap(([tag, those]) =>
    [those].flat().flatMap((module) => endpointsIn(module, tag)),
  )
}

function endpointsIn(module: Module, tag: string): Endpoint[] {
  const declared = Object.values(module).flat().filter(isEndpoint)
  return declared
    .flatMap(formsOf)
    .map((one) => (one.tags.length > 0 ? one : { ...one, tags: [tag] }))
}

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'handler' in value && 'path' in value
}
