import { configFault } from './fault.ts'
import { isMap, type Value } from './values.ts'
import type { YamlVariable } from './variables.ts'

/** One of the jobs that a parallel job becomes. */
export interface JobCopy {
  readonly name: string
  readonly variables: readonly YamlVariable[]
  readonly index: number
  readonly total: number
}

const MOST = 200

/** The name of the job whose copy has this name, such as `x 1/5` or `x: [a]`. */
export function nameOfAll(copy: string): string {
  const numbered = / \d{1,3}\/\d{1,3}$/.exec(copy)
  if (numbered) return copy.slice(0, numbered.index)
  const at = copy.endsWith(']') ? copy.indexOf(': [') : -1
  return at < 0 ? copy : copy.slice(0, at)
}

/** The jobs that one becomes: itself, `x 1/5` and so on, or one for each line of a matrix (docs/contract/D §5.2 parallel). */
export function copiesOf({
  name,
  parallel,
}: {
  readonly name: string
  readonly parallel: Value
}): readonly JobCopy[] | undefined {
  if (parallel === undefined || parallel === null) return undefined
  if (typeof parallel === 'number') {
    if (!Number.isInteger(parallel) || parallel < 1 || parallel > MOST) throw outOfRange(name)
    return Array.from({ length: parallel }, (_, at) => ({
      name: `${name} ${at + 1}/${parallel}`,
      variables: [],
      index: at + 1,
      total: parallel,
    }))
  }
  const lines = isMap(parallel) ? parallel.matrix : undefined
  if (!Array.isArray(lines)) throw outOfRange(name)
  const rows = lines.flatMap((line) => productOf(name, line))
  if (rows.length === 0 || rows.length > MOST) throw outOfRange(name)
  return rows.map((variables, at) => ({
    name: `${name}: [${variables.map(({ value }) => value).join(', ')}]`,
    variables,
    index: at + 1,
    total: rows.length,
  }))
}

function outOfRange(name: string) {
  return configFault(
    `jobs:${name}:parallel should be an integer between 1 and ${MOST}, or a matrix`,
  )
}

function productOf(name: string, line: Value): readonly YamlVariable[][] {
  if (!isMap(line)) throw outOfRange(name)
  let rows: YamlVariable[][] = [[]]
  for (const [key, given] of Object.entries(line)) {
    const values = (Array.isArray(given) ? given : [given]).map(String)
    if (rows.length * values.length > MOST) throw outOfRange(name)
    rows = rows.flatMap((row) => values.map((value) => [...row, { key, value, raw: false }]))
  }
  return rows
}
