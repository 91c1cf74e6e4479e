import { configFault } from './fault.ts'
import { copiesOf } from './parallel.ts'
import { isMap, type Value, type ValueMap } from './values.ts'

/** A job of the same pipeline that another waits for. */
export interface Need {
  readonly job: string
  readonly artifacts: boolean
  readonly optional: boolean
}

export interface Needs {
  /** Undefined: the job waits for the stages before its own. */
  readonly needs: readonly Need[] | undefined
  /** Needs in other pipelines and projects, for their artifacts alone. */
  readonly foreign: readonly ForeignNeed[]
}

/** A job of another project, or of another pipeline, whose artifacts a job gets. */
export interface ForeignNeed {
  readonly job: string
  /** With `ref`: the newest successful pipeline there. Texts may name variables. */
  readonly project: string | undefined
  readonly ref: string | undefined
  /** The id of a pipeline that this one comes from. */
  readonly pipeline: string | undefined
  readonly optional: boolean
}

/** Of jobs elsewhere; how many of the own pipeline there may be is a limit of the plan. */
const MOST_FOREIGN = 50

/** Reads `needs:` (docs/contract/D §5.2). */
export function readNeeds(where: string, value: Value): Needs {
  if (value === undefined || value === null) return { needs: undefined, foreign: [] }
  const list: readonly unknown[] = Array.isArray(value) ? value.flat(10) : [value]
  const foreign = list.filter(isForeign).flatMap((item) => readForeign(where, item))
  if (foreign.length > MOST_FOREIGN) {
    throw configFault(`${where} config has too many jobs of others (maximum is ${MOST_FOREIGN})`)
  }
  const needs = list
    .filter((item) => !isForeign(item))
    .flatMap((item) => readNeed(`${where}:need`, item))
  const onlyForeign = needs.length === 0 && list.length > 0
  return { needs: onlyForeign ? undefined : needs, foreign }
}

function isForeign(item: Value): item is ValueMap {
  return isMap(item) && ('pipeline' in item || 'project' in item)
}

function readForeign(where: string, item: ValueMap): readonly ForeignNeed[] {
  const inProject = 'project' in item
  const named = inProject ? ['project', 'ref', 'job'] : ['pipeline', 'job']
  assertKeys(`${where}:need`, item, [...named, 'artifacts', 'optional'])
  const textOf = (key: string): string | undefined => {
    const value = item[key]
    if (!named.includes(key)) return undefined
    if (typeof value === 'string' && value !== '') return value
    if (key === 'pipeline' && typeof value === 'number') return String(value)
    throw configFault(`${where}:need ${key} should be a string`)
  }
  const need = {
    project: textOf('project'),
    ref: textOf('ref'),
    pipeline: textOf('pipeline'),
    job: textOf('job') ?? '',
    optional: item.optional === true,
  }
  return item.artifacts === false ? [] : [need]
}

function assertKeys(where: string, item: ValueMap, known: readonly string[]): void {
  const unknown = Object.keys(item).filter((key) => !known.includes(key))
  if (unknown.length === 0) return
  throw configFault(`${where} config contains unknown keys: ${unknown.join(', ')}`)
}

/** One need, or with `parallel: {matrix}` one for each copy of the job that it names. */
function readNeed(where: string, item: Value): readonly Need[] {
  if (typeof item === 'string') return [{ job: item, artifacts: true, optional: false }]
  if (!isMap(item) || typeof item.job !== 'string') {
    throw configFault(`${where} config should be a string or a hash with a job`)
  }
  assertKeys(where, item, ['job', 'artifacts', 'optional', 'parallel'])
  const need = { artifacts: item.artifacts !== false, optional: item.optional === true }
  if (item.parallel === undefined) return [{ ...need, job: item.job }]
  if (!isMap(item.parallel)) throw configFault(`${where}:parallel config should be a hash`)
  const copies = copiesOf({ name: item.job, parallel: item.parallel }) ?? []
  return copies.map(({ name }) => ({ ...need, job: name }))
}

/** Refuses jobs that wait for each other: none of them would ever begin. */
export function assertNoCircle(needs: ReadonlyMap<string, readonly string[]>): void {
  const open = new Map<string, number>()
  const waiting = new Map<string, string[]>([...needs.keys()].map((name) => [name, []]))
  for (const [name, list] of needs) {
    const known = list.filter((one) => waiting.has(one))
    for (const other of known) waiting.get(other)?.push(name)
    open.set(name, known.length)
  }
  const free = [...open].flatMap(([name, count]) => (count === 0 ? [name] : []))
  let done = 0
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    done += 1
    for (const one of waiting.get(name) ?? []) {
      const left = (open.get(one) ?? 0) - 1
      if (left === 0) free.push(one)
      open.set(one, left)
    }
  }
  if (done < needs.size) throw configFault('The pipeline has circular dependencies')
}
