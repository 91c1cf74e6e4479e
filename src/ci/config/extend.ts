import { budget } from './budget.ts'
import { configFault } from './fault.ts'
import {
  charactersOf,
  deepMerge,
  isMap,
  MOST_CHARACTERS,
  MOST_RESOLVED,
  mapValues,
  referencePath,
  type Value,
  type ValueMap,
} from './values.ts'

const DEEPEST_EXTENDS = 11
const DEEPEST_REFERENCE = 10

/** Gives jobs what the templates they extend say; the later template wins, the job itself last (docs/contract/D §5.2). */
export function resolveExtends(config: ValueMap): ValueMap {
  const done = new Map<string, ValueMap>()
  const depths = new Map<string, number>()
  const spend = budget({ count: MOST_RESOLVED, characters: MOST_CHARACTERS })
  const resolve = (name: string, chain: readonly string[]): Value => {
    const known = done.get(name)
    if (known) return known
    const entry = config[name]
    if (!isMap(entry) || !('extends' in entry)) return entry
    if (chain.includes(name)) {
      throw configFault(`${chain[0]}: circular dependency detected in \`extends\``)
    }
    const bases = basesOf(name, entry, config)
    const below = bases.map((base) => resolve(base, shorter([...chain, name])))
    const depth = 1 + Math.max(0, ...bases.map((base) => depths.get(base) ?? 0))
    if (depth > DEEPEST_EXTENDS) throw tooDeep(name)
    const { extends: _, ...own } = entry
    const found = [...below, own].reduce<ValueMap>((merged, one) => {
      if (!isMap(one)) throw configFault(`${name}: invalid base hash in \`extends\``)
      return deepMerge(merged, one, spend)
    }, {})
    done.set(name, found)
    depths.set(name, depth)
    return found
  }
  return Object.fromEntries(Object.keys(config).map((name) => [name, resolve(name, [])]))
}

function tooDeep(name: string) {
  return configFault(`${name}: nesting too deep in \`extends\``)
}

/** Ends at once what would be too deep in any case. */
function shorter(chain: readonly string[]): readonly string[] {
  if (chain.length > DEEPEST_EXTENDS) throw tooDeep(chain[0] ?? '')
  return chain
}

function basesOf(name: string, entry: ValueMap, config: ValueMap): readonly string[] {
  const given = entry.extends
  const bases = Array.isArray(given) ? given : [given]
  const unknown = bases.filter((base) => typeof base !== 'string' || !(base in config))
  if (unknown.length > 0) {
    throw configFault(`${name}: unknown keys in \`extends\` (${unknown.join(', ')})`)
  }
  return bases as readonly string[] // each was found to be a text
}

/** Replaces each `!reference` by what it names. */
export function resolveReferences(config: ValueMap): ValueMap {
  const spend = budget({ count: MOST_RESOLVED, characters: MOST_CHARACTERS })
  const resolve = (value: Value, chain: readonly string[]): Value =>
    mapValues(value, (part) => {
      spend(1, charactersOf(part))
      const path = referencePath(part)
      if (path === undefined) return undefined
      const text = JSON.stringify(path)
      if (chain.includes(text)) throw configFault(`!reference ${text} is part of a circular chain`)
      if (chain.length >= DEEPEST_REFERENCE) {
        throw configFault(`!reference ${text} is nested too deeply`)
      }
      const found = valueAt(config, path)
      if (found === undefined) throw configFault(`!reference ${text} could not be found`)
      return resolve(found, [...chain, text])
    })
  return resolve(config, []) as ValueMap // a map stays a map
}

function valueAt(config: ValueMap, path: readonly string[]): Value {
  let at: Value = config
  for (const key of path) {
    if (!isMap(at)) return undefined
    at = at[key]
  }
  return at
}
