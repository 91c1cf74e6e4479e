import type { PatternBudget } from '../../base/patterns/budget.ts'
import { configFault, TOO_LARGE } from './fault.ts'
import { hasPattern } from './has-pattern.ts'
import { isMap, mapValues, type Value, type ValueMap } from './values.ts'
import type { ConfigFile } from './yaml.ts'

const TYPES = ['string', 'number', 'boolean', 'array'] as const
type InputType = (typeof TYPES)[number]

const MARK = /\$\[\[\s*inputs\.([\w-]+)\s*((?:\|[^\]|]*)*)\]\]/g
const WHOLE = /^\$\[\[\s*inputs\.([\w-]+)\s*\]\]$/
/** Characters that inputs bring in at most: a long one may be named often. */
const MOST_TEXT = 4_000_000

/** The content of a file with the values of its inputs put in (docs/contract/D §5.1 `spec`). */
export async function fillInputs(
  file: ConfigFile,
  given: ValueMap,
  where: string,
  patterns: PatternBudget,
): Promise<ValueMap> {
  const declared = declaredInputs(file.header)
  const unknown = Object.keys(given).filter((name) => !(name in declared))
  if (unknown.length > 0) {
    throw configFault(`\`${where}\`: unknown input arguments: ${unknown.join(', ')}`)
  }
  const values = new Map<string, Value>()
  for (const [name, rule] of Object.entries(declared)) {
    const value = unquoted(given[name], rule)
    values.set(name, await inputValue(name, { rule, value, where, patterns }))
  }
  if (file.header === undefined) return file.content
  return filled(file.content, values, where)
}

function declaredInputs(header: ValueMap | undefined): ValueMap {
  const spec = header?.spec
  const inputs = isMap(spec) ? spec.inputs : undefined
  return isMap(inputs) ? inputs : {}
}

/** The value of an input as its declaration wants it: what is given, else its default; `where` begins what is said of a wrong one. */
export async function inputValue(
  name: string,
  given: {
    readonly rule: Value
    readonly value: Value
    readonly where: string
    readonly patterns: PatternBudget
  },
): Promise<Value> {
  const { rule, where, patterns } = given
  const { type = 'string', options, regex, default: preset } = isMap(rule) ? rule : {}
  const say = (text: string) => configFault(`\`${where}\`: \`${name}\` input: ${text}`)
  if (!TYPES.some((one) => one === type)) throw say(`unknown type ${String(type)}`)
  const value = given.value ?? preset
  if (value === undefined) throw say('required value has not been provided')
  if (!fitsType(value, type as InputType)) throw say(`provided value is not a ${String(type)}`)
  if (Array.isArray(options) && !options.includes(value)) {
    throw say(
      `\`${String(value)}\` cannot be used because it is not in the list of allowed options`,
    )
  }
  if (
    typeof regex === 'string' &&
    !(await hasPattern(patterns, { source: regex }, String(value)))
  ) {
    throw say('provided value does not match required RegEx pattern')
  }
  return value
}

/** Forms and options of a push know nothing but texts: `3`, `true` and `["a"]` are what they say. */
function unquoted(given: Value, rule: Value): Value {
  const type = isMap(rule) ? (rule.type ?? 'string') : 'string'
  if (typeof given !== 'string' || type === 'string') return given
  try {
    return JSON.parse(given) as Value
  } catch {
    return given
  }
}

function fitsType(value: Value, type: InputType): boolean {
  return type === 'array' ? Array.isArray(value) : typeof value === type
}

/** Names of keys are filled in too. */
function filled(content: ValueMap, values: ReadonlyMap<string, Value>, where: string): ValueMap {
  let room = MOST_TEXT
  const put = (text: string): Value => {
    const found = putIn(text, values, where)
    if (typeof found === 'string') room -= found.length
    if (room < 0) throw configFault(TOO_LARGE)
    return found
  }
  const fill = (value: Value): Value =>
    mapValues(value, (part) => {
      if (typeof part === 'string') return put(part)
      if (!isMap(part)) return undefined
      return Object.fromEntries(
        Object.entries(part).map(([key, inner]) => [String(put(key)), fill(inner)]),
      )
    })
  return fill(content) as ValueMap // a map stays a map
}

function putIn(text: string, values: ReadonlyMap<string, Value>, where: string): Value {
  const inputNamed = (name: string): Value => {
    if (!values.has(name)) throw configFault(`\`${where}\`: unknown interpolation key: \`${name}\``)
    return values.get(name)
  }
  const whole = WHOLE.exec(text)
  if (whole) return inputNamed(whole[1] ?? '')
  let room = MOST_TEXT
  return text.replaceAll(MARK, (_mark, name: string, functions: string) => {
    const value = changed(textOf(inputNamed(name)), functions, where)
    room -= value.length
    if (room < 0) throw configFault(TOO_LARGE)
    return value
  })
}

/** A value as it stands within a text. */
export function textOf(value: Value): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const MOST_FUNCTIONS = 3

/** The text with what `| truncate(0,8) | expand_vars` says; variables are left for the jobs to expand. */
function changed(text: string, functions: string, where: string): string {
  const list = functions.split('|').slice(1)
  if (list.length > MOST_FUNCTIONS) {
    throw configFault(`\`${where}\`: too many functions in interpolation block`)
  }
  return list.reduce((so, given) => {
    const name = given.trim()
    const cut = /^truncate\(\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(name)
    if (cut) return so.slice(Number(cut[1]), Number(cut[1]) + Number(cut[2]))
    if (name === 'expand_vars') return so
    throw configFault(`\`${where}\`: no function matching \`${name}\``)
  }, text)
}
