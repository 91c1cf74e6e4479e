import type { PatternBudget } from '../../base/patterns/budget.ts'
import { badRequest } from '../../base/problem.ts'
import { budget } from './budget.ts'
import { configFault } from './fault.ts'
import { inputValue, textOf } from './inputs.ts'
import { isMap, MOST_CHARACTERS, mapValues, type Value, type ValueMap } from './values.ts'

const KEYS = ['type', 'default', 'description', 'options', 'regex']
const MARK = /\$\{\{\s*job\.inputs\.([\w-]+)\s*\}\}/g

/** Refuses inputs of a job that could not be filled in: each needs a default, and only those that there are may be named. */
export async function assertJobInputs(
  where: string,
  job: ValueMap,
  patterns: PatternBudget,
): Promise<void> {
  if (job.inputs === undefined || job.inputs === null) return
  if (!isMap(job.inputs)) throw configFault(`${where}:inputs config should be a hash`)
  const declared = job.inputs
  for (const [name, rule] of Object.entries(declared)) {
    const at = `${where}:inputs:${name}`
    if (!isMap(rule) || rule.default === undefined) {
      throw configFault(`${at} default must be provided`)
    }
    const unknown = Object.keys(rule).filter((key) => !KEYS.includes(key))
    if (unknown.length > 0) {
      throw configFault(`${at} config contains unknown keys: ${unknown.join(', ')}`)
    }
    await inputValue(name, { rule, value: undefined, where, patterns })
  }
  fill(job, (name) => {
    if (!(name in declared)) throw configFault(`${where}: unknown job input: \`${name}\``)
    return ''
  })
}

/** 400 for values of inputs that a job does not have or take. */
export async function assertGivenInputs(
  { inputs }: ValueMap,
  given: Readonly<Record<string, Value>>,
  patterns: PatternBudget,
): Promise<void> {
  const declared = isMap(inputs) ? inputs : {}
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(declared, name)) throw badRequest(`unknown job input: ${name}`)
    await inputValue(name, { rule: declared[name], value, where: 'job_inputs', patterns })
  }
}

/** What a job keeps of the values that somebody gives its inputs. */
export function withGivenInputs(
  options: ValueMap,
  given: Readonly<Record<string, Value>>,
): ValueMap {
  const before = isMap(options.given_inputs) ? options.given_inputs : {}
  return { ...options, given_inputs: { ...before, ...given } }
}

/** The options of a job with the values of its inputs in the place of `${{ job.inputs.name }}`, for runners of any age. */
export function fillJobInputs({ inputs, given_inputs, ...options }: ValueMap): ValueMap {
  if (!isMap(inputs)) return options
  const given = isMap(given_inputs) ? given_inputs : {}
  return fill(options, (name, mark) => {
    const rule = inputs[name]
    return isMap(rule) ? textOf(given[name] ?? rule.default) : mark
  })
}

function fill(options: ValueMap, textFor: (name: string, mark: string) => string): ValueMap {
  const spend = budget({ count: Number.POSITIVE_INFINITY, characters: MOST_CHARACTERS })
  const put = (mark: string, name: string) => {
    const text = textFor(name, mark)
    spend(0, text.length)
    return text
  }
  const filled = mapValues(options, (part) =>
    typeof part === 'string' ? part.replaceAll(MARK, put) : undefined,
  )
  return filled as ValueMap // a map stays a map
}
