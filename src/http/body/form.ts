import qs from 'qs'
import { badParameters } from '../../base/problem.ts'
import { withoutPrototypes } from './prototypes.ts'

/** Parameters by name, as they came: texts, arrays, objects, JSON values, files. */
export type Input = Readonly<Record<string, unknown>>

export interface FormLimits {
  /** Most parameters of one request. */
  readonly parameters: number
  /** Most brackets behind the name of a parameter. */
  readonly formDepth: number
}

/** Reads `a=1&b[]=2&c[d]=3&e[][f]=4`; `+` is a space. Broken percent or UTF-8 sequences are refused with 400. */
export function readForm(raw: string, limits: FormLimits): Input {
  if (raw === '') return {}
  assertDecodes(raw)
  return readPairs(raw.split('&', limits.parameters + 1), limits)
}

/** As `readForm`, of encoded pairs. */
export function readPairs(pairs: readonly string[], limits: FormLimits): Input {
  if (pairs.length > limits.parameters) {
    throw badParameters(`more than ${limits.parameters} parameters are not supported`)
  }
  const plain = pairs.map((pair) => withPlainBrackets(pair, limits.formDepth))
  const parsed = qs.parse(groupHashes(plain).join('&'), {
    depth: limits.formDepth,
    arrayLimit: limits.parameters,
    parameterLimit: limits.parameters,
    plainObjects: true,
    allowPrototypes: false,
    strictDepth: false,
    ignoreQueryPrefix: false,
  })
  return withoutPrototypes(parsed) as Input
}

function assertDecodes(raw: string): void {
  try {
    decodeURIComponent(raw.replaceAll('+', ' '))
  } catch {
    throw badParameters('Invalid query parameters: invalid %-encoding')
  }
}

/** The pair with the brackets of its name as they are, once it is sure that there are not too many. */
function withPlainBrackets(pair: string, most: number): string {
  const end = pair.indexOf('=')
  const name = end < 0 ? pair : pair.slice(0, end)
  if (!name.includes('[') && !name.includes('%5')) return pair
  const plain = name.replaceAll(/%5b/gi, '[').replaceAll(/%5d/gi, ']')
  if (plain.split('[', most + 2).length > most + 1) {
    throw badParameters('parameters are nested too deeply')
  }
  return end < 0 ? plain : plain + pair.slice(end)
}

/**
 * `a[][x]=1&a[][y]=2&a[][x]=3` is two hashes to form clients: a key that comes again begins the next one. The query
 * reader wants indices, so they are put in.
 */
function groupHashes(pairs: readonly string[]): readonly string[] {
  const groups = new Map<string, { index: number; seen: Set<string> }>()
  return pairs.map((pair) => {
    const end = pair.indexOf('=')
    const whole = end < 0 ? pair : pair.slice(0, end)
    const at = whole.indexOf('[][')
    if (at < 0) return pair
    const name = whole.slice(0, at)
    const key = whole.slice(at + 2)
    const group = groups.get(name) ?? { index: 0, seen: new Set<string>() }
    const repeats = !key.endsWith('[]') && group.seen.has(key)
    if (repeats) {
      group.index += 1
      group.seen.clear()
    }
    group.seen.add(key)
    groups.set(name, group)
    return `${name}[${group.index}]${key}${end < 0 ? '' : pair.slice(end)}`
  })
}
