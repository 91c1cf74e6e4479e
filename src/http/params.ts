import { z } from 'zod'
import { patternFault } from '../base/patterns/check.ts'
import type { Pattern } from '../base/patterns/pattern.ts'
import { givenValue } from './null-input.ts'

/** The JSON Schema that the API document shows for a parameter. */
export type ParameterSchema = Readonly<Record<string, unknown>>

/** Why a value was refused, in the spec's words, put behind the parameter's name. */
class Fault {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const INVALID = new Fault('is invalid')
const NOT_ALLOWED = new Fault('does not have a valid value')
const MISSING = new Fault('is missing')

/**
 * A request parameter: how its raw value (text of a query or form, or a JSON value) is read, and how the API document
 * shows it. `read` gets anything but undefined.
 */
export function parameter<T>(
  schema: ParameterSchema,
  read: (raw: unknown) => T | Fault,
): z.ZodType<T> {
  const parsed = anything.transform((raw, check): T => {
    const value = raw === undefined ? MISSING : read(raw)
    if (!(value instanceof Fault)) return value
    check.addIssue({ code: 'custom', message: value.text })
    return z.NEVER
  })
  // `meta` would make a second schema of each of some thousand.
  z.globalRegistry.add(parsed, { parameter: schema })
  return parsed
}

const anything = z.unknown()

/** Refusals that `read` functions of other files may give. */
export const fault = {
  invalid: INVALID,
  notAllowed: NOT_ALLOWED,
  missing: MISSING,
  /** Any other words, put behind the parameter's name. */
  says: (text: string): Fault => new Fault(text),
} as const

function asText(raw: unknown): string | Fault {
  if (typeof raw === 'number' && Number.isFinite(raw)) return String(raw)
  if (typeof raw !== 'string' || raw.includes('\0') || !raw.isWellFormed()) return INVALID
  return raw
}

function asTextUpTo(max = 1_048_576, raw: unknown): string | Fault {
  const value = asText(raw)
  if (value instanceof Fault) return value
  return value.length > max && charactersOf(value) > max
    ? fault.says(`is too long (maximum is ${max} characters)`)
    : value
}

/** How many characters a text has: one of two UTF-16 units, as most emoji are, counts once. */
function charactersOf(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

export interface TextOptions {
  /** Longest text, in characters; 1 MiB by default. */
  readonly max?: number
}

/** A text. Arrays and objects are refused, a number is its digits; NUL bytes and broken UTF-16 are invalid. */
export function text({ max }: TextOptions = {}): z.ZodType<string> {
  const known = texts.get(max)
  if (known) return known
  const schema = { type: 'string', ...(max ? { maxLength: max } : {}) }
  const made = parameter(schema, (raw) => asTextUpTo(max, raw))
  texts.set(max, made)
  return made
}

/* What hundreds of endpoints take is one schema: each costs memory, and time at every start. */

/** By the longest that they may be. */
const texts = new Map<number | undefined, z.ZodType<string>>()

/** A regular expression in RE2's syntax that is not too large; an empty text is none. */
export function regex({ max, read = (source) => ({ source }) }: RegexOptions): z.ZodType<string> {
  return parameter({ type: 'string', ...(max ? { maxLength: max } : {}) }, (raw) => {
    const value = asTextUpTo(max, raw)
    if (value instanceof Fault || value === '') return value
    const wrong = patternFault(read(value))
    return wrong === undefined ? value : fault.says(wrong)
  })
}

interface RegexOptions extends TextOptions {
  /** What the text means, where it is not the expression alone. */
  readonly read?: (text: string) => Pattern
}

/** A text with something in it: blank is `is empty` (docs/contract/B-resolved §0). */
export function filledText({ max }: TextOptions = {}): z.ZodType<string> {
  return parameter({ type: 'string', minLength: 1 }, (raw) => {
    const value = asText(raw)
    if (!(value instanceof Fault) && value.trim() === '') return fault.says('is empty')
    return asTextUpTo(max, raw)
  })
}

export interface IntegerOptions {
  readonly min?: number
  readonly max?: number
}

function asNumber(raw: unknown, form: RegExp): number {
  if (typeof raw === 'number') return raw
  return typeof raw === 'string' && form.test(raw) ? Number(raw) : NaN
}

function asInteger(raw: unknown): number | Fault {
  const value = asNumber(raw, /^[+-]?\d{1,16}$/)
  return Number.isSafeInteger(value) ? value : INVALID
}

/** A whole number; text must be all digits. Outside the bounds: `does not have a valid value`. */
export function integer(options: IntegerOptions = {}): z.ZodType<number> {
  const schema = {
    type: 'integer',
    ...(options.min === undefined ? {} : { minimum: options.min }),
    ...(options.max === undefined ? {} : { maximum: options.max }),
  }
  return parameter(schema, (raw) => {
    const value = asInteger(raw)
    if (value instanceof Fault) return value
    const low = options.min !== undefined && value < options.min
    const high = options.max !== undefined && value > options.max
    return low || high ? NOT_ALLOWED : value
  })
}

/** The number of a record. */
export function id(): z.ZodType<number> {
  return anyId
}

const anyId = integer()

/** A number with a fraction. */
export function decimal(): z.ZodType<number> {
  return parameter({ type: 'number' }, (raw) => {
    const value = asNumber(raw, /^[+-]?\d+(\.\d+)?$/)
    return Number.isFinite(value) ? value : INVALID
  })
}

const TRUE = new Set(['true', 't', '1', 'yes', 'y', 'on'])
const FALSE = new Set(['false', 'f', '0', 'no', 'n', 'off', ''])

/** True or false; null and the empty text are false (docs/contract/A §Shared conventions 3). */
export function flag(): z.ZodType<boolean> {
  return anyFlag
}

const anyFlag = parameter({ type: 'boolean' }, (raw) => {
  if (typeof raw === 'boolean') return raw
  if (raw === null) return false
  if (typeof raw !== 'string' && typeof raw !== 'number') return INVALID
  const word = String(raw).toLowerCase()
  if (TRUE.has(word)) return true
  return FALSE.has(word) ? false : INVALID
})

/** One word of a list. */
export function oneOf<const T extends string>(words: readonly T[]): z.ZodType<T> {
  return parameter({ type: 'string', enum: words }, (raw) => {
    const found = words.find((word) => word === raw)
    return found ?? NOT_ALLOWED
  })
}

/** One number of a list. */
export function oneOfNumbers<const T extends number>(numbers: readonly T[]): z.ZodType<T> {
  return parameter({ type: 'integer', enum: numbers }, (raw) => {
    const value = asInteger(raw)
    if (value instanceof Fault) return value
    return numbers.find((number) => number === value) ?? NOT_ALLOWED
  })
}

const INSTANT = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/

/** A moment, ISO 8601, given on in UTC with milliseconds; a bare day is its midnight UTC. */
export function instant(): z.ZodType<string> {
  return parameter({ type: 'string', format: 'date-time' }, (raw) => {
    if (typeof raw !== 'string' || dayOf(raw) instanceof Fault) return INVALID
    const zoned = /(Z|[+-]\d{2}:?\d{2})$/.test(raw) || raw.length === 10 ? raw : `${raw}Z`
    const time = Date.parse(zoned.replace(' ', 'T'))
    return Number.isNaN(time) ? INVALID : new Date(time).toISOString()
  })
}

/** A calendar day; of a moment the day is taken, as the reference does for date parameters. */
export function day(): z.ZodType<string> {
  return parameter({ type: 'string', format: 'date' }, dayOf)
}

/** The day that a moment begins with; the thirtieth of February is none. */
function dayOf(raw: unknown): string | Fault {
  if (typeof raw !== 'string' || !INSTANT.test(raw)) return INVALID
  const value = raw.slice(0, 10)
  const time = Date.parse(`${value}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === value
    ? value
    : INVALID
}

export interface ListOptions {
  /** Most items; 10,000 by default. */
  readonly max?: number
  /** Whether one text is split at commas (docs/contract/A-resolved §1). */
  readonly commas?: boolean
}

/** A JSON array, `name[]=` repeated, or one value; with `commas` also one text split at commas. */
export function list<T>(item: z.ZodType<T>, options: ListOptions = {}): z.ZodType<T[]> {
  const max = options.max ?? 10_000
  const schema = { type: 'array', items: schemaOf(item), maxItems: max }
  return parameter(schema, (raw) => {
    const parts = partsOf(raw, options.commas ?? false)
    if (parts === null || parts.length > max) return INVALID
    return itemsOf(item, parts)
  })
}

function itemsOf<T>(item: z.ZodType<T>, parts: readonly unknown[]): T[] | Fault {
  const items: T[] = []
  for (const part of parts) {
    const given = givenValue(item, part)
    // `ids[]=` is how forms say that there are none.
    if (part === '' && given === undefined) continue
    const read = item.safeParse(given)
    if (!read.success) {
      const [issue] = read.error.issues
      // Other issues are zod's own, of hashes, in words that are not ours.
      const says = issue?.code === 'custom' ? issue.message : 'is missing'
      return fault.says(says === 'is missing' ? 'is invalid' : says)
    }
    items.push(read.data)
  }
  return items
}

/** As `list`, and one text is split at commas: `labels=a,b`. */
export function csv<T>(item: z.ZodType<T>, options: ListOptions = {}): z.ZodType<T[]> {
  return list(item, { ...options, commas: true })
}

function partsOf(raw: unknown, commas: boolean): readonly unknown[] | null {
  if (Array.isArray(raw)) return raw
  if (raw === null || raw === '') return []
  if (typeof raw === 'string') {
    if (!commas) return [raw]
    return raw
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
  }
  if (typeof raw === 'number') return [raw]
  // `name[0]=a&name[1]=b` beyond the array limit of the query reader, and `name[][key]=`
  if (typeof raw === 'object' && Object.keys(raw).every((key) => /^\d+$/.test(key)))
    return Object.values(raw)
  return null
}

/** A hash of the given parameters, as JSON object or `name[key]=`. Unknown keys are left out. */
export function hash<S extends z.ZodRawShape>(shape: S): z.ZodObject<S> {
  return z.object(shape)
}

/** A free hash of texts, as `custom_attributes[key]=value`. */
export function textHash(): z.ZodType<Record<string, string>> {
  return parameter({ type: 'object', additionalProperties: { type: 'string' } }, (raw) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return INVALID
    const found: Record<string, string> = Object.create(null)
    for (const [key, value] of Object.entries(raw)) {
      const read = asText(value)
      if (read instanceof Fault) return INVALID
      found[key] = read
    }
    return found
  })
}

/** A file of a multipart form, already on disk in the server's temporary folder. */
export interface UploadedFile {
  readonly path: string
  readonly filename: string
  readonly contentType: string
  readonly size: number
}

/** A file part of a multipart form. */
export function file(): z.ZodType<UploadedFile> {
  return parameter({ type: 'string', format: 'binary' }, (raw) =>
    isUploadedFile(raw) ? raw : INVALID,
  )
}

const fileNames = new WeakMap<object, ReadonlySet<string>>()

/** The parameters of a body that may be files. */
export function fileNamesOf(shape: Readonly<Record<string, z.ZodType>>): ReadonlySet<string> {
  const known = fileNames.get(shape)
  if (known) return known
  const isFile = ([, schema]: [string, z.ZodType]) =>
    JSON.stringify(schemaOf(schema)).includes('"format":"binary"')
  const names = new Set(
    Object.entries(shape)
      .filter(isFile)
      .map(([name]) => name),
  )
  fileNames.set(shape, names)
  return names
}

const uploads = new WeakSet<object>()

/** Marks an object as a received file, so that no JSON body can pose as one. */
export function receivedFile(uploaded: UploadedFile): UploadedFile {
  uploads.add(uploaded)
  return uploaded
}

function isUploadedFile(raw: unknown): raw is UploadedFile {
  return typeof raw === 'object' && raw !== null && uploads.has(raw)
}

/** The API document's schema of a parameter. */
export function schemaOf(schema: z.ZodType): ParameterSchema {
  const meta = schema.meta()?.parameter
  if (typeof meta === 'object' && meta !== null) return meta as ParameterSchema // put there by `parameter`
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const known = (zodSchema as unknown as z.ZodType).meta?.()?.parameter
      if (typeof known === 'object' && known !== null) {
        for (const key of Object.keys(jsonSchema))
          delete (jsonSchema as Record<string, unknown>)[key]
        Object.assign(jsonSchema, known)
      }
    },
  })
  return json
}

/** The check of a declaration of which one of some parameters, at least, has to be there. */
export function atLeastOne(names: readonly string[]) {
  return (sent: ReadonlySet<string>): string[] =>
    names.some((name) => sent.has(name))
      ? []
      : [`${names.join(', ')} are missing, at least one parameter must be provided`]
}

/** The check of a declaration of which one of some parameters has to be there, and no other of them beside it. */
export function exactlyOne(names: readonly string[]) {
  return (sent: ReadonlySet<string>): string[] => {
    const given = names.filter((name) => sent.has(name))
    if (given.length === 1) return []
    return given.length === 0
      ? [`${names.join(', ')} are missing, exactly one parameter must be provided`]
      : [`${given.join(', ')} are mutually exclusive`]
  }
}
