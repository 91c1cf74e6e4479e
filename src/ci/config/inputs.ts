import { RE2JS } from 're2js'
import { configFault } from './fault.ts'
import { isMap, mapValues, type Value, type ValueMap } from './values.ts'
import type { ConfigFile } from './yaml.ts'

const TYPES = ['string', 'number', 'boolean', 'array'] as const
type InputType = (typeof TYPES)[number]

const MARK = /\$\[\[\s*inputs\.([\w-]+)\s*(?:\|\s*([^\]]+?)\s*)?\]\]/g
const WHOLE = /^\$\[\[\s*inputs\.([\w-]+)\s*\]\]$/

/** The content of a file with the values of its inputs put in (docs/contract/D §5.1 `spec`). */
export function fillInputs(file: ConfigFile, given: ValueMap, where: string): ValueMap {
  const declared = declaredInputs(file.header)
  const unknown = Object.keys(given).filter((name) => !(name in declared))
  if (unknown.length > 0) {
    throw configFault(`\`${where}\`: unknown input arguments: ${unknown.join(', ')}`)
  }
  const values = new Map<string, Value>()
  for (const [name, rule] of Object.entries(declared)) {
    values.set(name, inputValue(name, rule, given[name], where))
  }
  if (file.header === undefined) return file.content
  return filled(file.content, values, where) as ValueMap // a map stays a map
}

function declaredInputs(header: ValueMap | undefined): ValueMap {
  const spec = header?.spec
  const inputs = isMap(spec) ? spec.inputs : undefined
  return isMap(inputs) ? inputs : {}
}

/** The value of an input as its declaration wants it: what is given, else its default; `where` begins what is said of a wrong one. */
export function inputValue(name: string, rule: Value, given: Value, where: string): Value {
  const { type = 'string', options, regex, default: preset } = isMap(rule) ? rule : {}
  const say = (text: string) => configFault(`\`${where}\`: \`${name}\` input: ${text}`)
  if (!TYPES.some((one) => one === type)) throw say(`unknown type ${String(type)}`)
  const value = given ?? preset
  if (value === undefined) throw say('required value has not been provided')
  if (!fitsType(value, type as InputType)) throw say(`provided value is not a ${String(type)}`)
  if (Array.isArray(options) && !options.includes(value)) {
    throw say(
      `\`${String(value)}\` cannot be used because it is not in the list of allowed options`,
    )
  }
  if (typeof regex === 'string' && !fitsPattern(regex, String(value))) {
    throw say('provided value does not match required RegEx pattern')
  }
  return value
}

function fitsType(value: Value, type: InputType): boolean {
  return type === 'array' ? Array.isArray(value) : typeof value === type
}

function fitsPattern(pattern: string, value: string): boolean {
  try {
    return RE2JS.compile(pattern).matcher(value).find()
  } catch {
    return false
  }
}

/** Names of keys are filled in too. */
function filled(value: Value, values: ReadonlyMap<string, Value>, where: string): Value {
  return mapValues(value, (part) => {
    if (!isMap(part)) return putIn(part, values, where)
    return Object.fromEntries(
      Object.entries(part).map(([key, inner]) => [
        String(putIn(key, values, where)),
        filled(inner, values, where),
      ]),
    )
  })
}

function putIn(part: Value, values: ReadonlyMap<string, Value>, where: string): Value | undefined {
  if (typeof part !== 'string') return undefined
  const inputNamed = (name: string): Value => {
    if (!values.has(name)) throw configFault(`\`${where}\`: unknown interpolation key: \`${name}\``)
    return values.get(name)
  }
  const whole = WHOLE.exec(part)
  if (whole) return inputNamed(whole[1] ?? '')
  return part.replaceAll(MARK, (_mark, name: string, change?: string) => {
    const value = inputNamed(name)
    const text = textOf(value)
    return change === undefined ? text : changed(text, change, where)
  })
}

/** A value as it stands within a text. */
export function textOf(value: Value): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `truncate(0,8)`; variables of the pipeline are left for the jobs to expand. */
function changed(text: string, change: string, where: string): string {
  const cut = /^truncate\(\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(change)
  if (cut) return text.slice(Number(cut[1]), Number(cut[1]) + Number(cut[2]))
  if (change === 'expand_vars') return text
  throw configFault(`\`${where}\`: no function matching \`${change}\``)
}
