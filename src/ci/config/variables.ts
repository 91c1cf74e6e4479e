import { isMap, type Value } from './values.ts'

/** Variables by name, as conditions and texts of a configuration see them. */
export interface Variables extends Pick<ReadonlyMap<string, string>, 'get' | 'has'> {
  /** Whether jobs find the value in a file: then the variable itself is the path of it. */
  isFile?(name: string): boolean
}

/** A variable of a configuration. */
export interface YamlVariable {
  readonly key: string
  readonly value: string
  /** Whether `$NAME` in the value stays as it is. */
  readonly raw: boolean
}

/** What may be said of one; `description` and `options` are for those who run a pipeline by hand. */
const KEYS: readonly string[] = ['value', 'description', 'options', 'expand']

/** The variables of a `variables:` map, or what is wrong with it. */
export function readVariables(value: Value): YamlVariable[] | undefined {
  if (value === undefined || value === null) return []
  if (!isMap(value)) return undefined
  const found: YamlVariable[] = []
  for (const [key, given] of Object.entries(value)) {
    if (!hasForm(given)) return undefined
    const inner = isMap(given) ? given.value : given
    if (inner !== undefined && inner !== null && !isPlain(inner)) return undefined
    const raw = isMap(given) && given.expand === false
    found.push({ key, value: inner === undefined || inner === null ? '' : String(inner), raw })
  }
  return found
}

function hasForm(given: Value): boolean {
  return !isMap(given) || Object.keys(given).every((name) => KEYS.includes(name))
}

function isPlain(value: Value): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** By how much a text may grow; names beyond stay as they are written. */
const MOST_GROWTH = 1_000_000

/** `$NAME`, `${NAME}` and `%NAME%`; `$$` is no name's beginning, nor is `%%`. */
const REFERENCE = /\$\$|%%|\$(\w+)|\$\{(\w+)\}|%(\w+)%/g

/** Names that a text refers to. */
export function namesIn(text: string): readonly string[] {
  if (!/[$%]/.test(text)) return []
  return [...text.matchAll(REFERENCE)].flatMap(
    ([, plain, braced, percent]) => plain ?? braced ?? percent ?? [],
  )
}

type FindValue = (name: string) => string | undefined

/**
 * Puts values into a text that somebody else puts further values into; names without one stay as they are written. Only where
 * something follows that could become part of them they get braces.
 */
export function resolveNames(text: string, findValue: FindValue, mostGrowth: number): string {
  return replaceNames(text, mostGrowth, (mark, name, next) => {
    if (name === undefined) return mark
    const value = findValue(name)
    if (value === undefined) return /[$%]/.test(next) ? withClosedEnd(mark) : mark
    return /[\w$%]/.test(next) ? withClosedEnd(value) : value
  })
}

const LONGEST_NAME = 255

/** A text whose last name ends in a brace, where a name is last. */
function withClosedEnd(text: string): string {
  const [last] = /\$[A-Za-z_]\w*$/.exec(text.slice(-LONGEST_NAME - 1)) ?? []
  if (last === undefined) return text
  const before = text.slice(0, text.length - last.length)
  let dollars = 0
  while (before.at(-1 - dollars) === '$') dollars += 1
  return dollars % 2 === 1 ? text : `${before}\${${last.slice(1)}}`
}

function replaceNames(
  text: string,
  mostGrowth: number,
  put: (mark: string, name: string | undefined, next: string) => string,
): string {
  if (!/[$%]/.test(text)) return text
  let grown = 0
  return text.replaceAll(
    REFERENCE,
    (mark, plain: string | undefined, braced: string | undefined, percent, at: number) => {
      const end = at + mark.length
      const value = put(mark, plain ?? braced ?? percent, text.slice(end, end + 1))
      grown += value.length
      return grown > mostGrowth ? mark : value
    },
  )
}

/**
 * Puts the values of variables into a text; unknown names stay, and `$$` is a dollar (docs/contract/D §5.5). Names of files'
 * variables stay too: nobody reads the content of a file elsewhere, and where the file will lie only the runner knows.
 */
export function expandText(text: string, variables: Pick<Variables, 'get' | 'isFile'>): string {
  return replaceNames(text, MOST_GROWTH, (mark, name) => {
    if (name === undefined) return mark === '$$' ? '$' : mark
    return (variables.isFile?.(name) ? undefined : variables.get(name)) ?? mark
  })
}
