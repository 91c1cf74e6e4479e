import { configFault } from './fault.ts'
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
  readonly foreign: readonly ValueMap[]
}

const MOST = 50

/** Reads `needs:` (docs/contract/D §5.2). */
export function readNeeds(where: string, value: Value): Needs {
  if (value === undefined || value === null) return { needs: undefined, foreign: [] }
  const list: readonly unknown[] = Array.isArray(value) ? value.flat(10) : [value]
  if (list.length > MOST) throw configFault(`${where} config is too long (maximum is ${MOST})`)
  const foreign = list.filter(isForeign)
  const needs = list.filter((item) => !isForeign(item)).map((item) => readNeed(where, item))
  const onlyForeign = needs.length === 0 && foreign.length > 0
  return { needs: onlyForeign ? undefined : needs, foreign }
}

function isForeign(item: Value): item is ValueMap {
  return isMap(item) && ('pipeline' in item || 'project' in item)
}

function readNeed(where: string, item: Value): Need {
  if (typeof item === 'string') return { job: item, artifacts: true, optional: false }
  if (!isMap(item) || typeof item.job !== 'string') {
    throw configFault(`${where}:need config should be a string or a hash with a job`)
  }
  return { job: item.job, artifacts: item.artifacts !== false, optional: item.optional === true }
}
