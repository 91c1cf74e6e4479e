import { Cron } from 'croner'
import { z } from 'zod'

/** One line of the configuration table: how a value is read, and what the documentation says about it. */
export interface Setting<T> {
  readonly doc: string
  readonly fallback: T
  /** The default as people write it. */
  readonly shown: string
  readonly secret: boolean
  /** Reads the text of the environment or the file. */
  readonly schema: z.ZodType<T, unknown>
}

interface About {
  readonly doc: string
  readonly secret?: boolean
}

/** A setting that always has a value; `shown` is its default. */
export function setting<T>(
  schema: z.ZodType<T, unknown>,
  shown: string,
  { doc, secret = false }: About,
): Setting<T> {
  return { doc, fallback: schema.parse(shown), shown, secret, schema }
}

/** A setting that may be missing. */
export function optional<T>(
  schema: z.ZodType<T, unknown>,
  { doc, secret = false }: About,
): Setting<T | undefined> {
  return { doc, fallback: undefined, shown: '', secret, schema }
}

export const text = z.string().min(1, 'expected a text that is not empty')

export function word(pattern: RegExp, expected: string) {
  return z.string().regex(pattern, expected)
}

export const email = word(
  /^[^\s@<>,;]+@[^\s@<>,;]+$/,
  'expected an address such as git@example.com',
)

export function choice<const T extends string>(words: readonly T[]) {
  return z.enum(words, `expected one of ${words.join(', ')}`)
}

export const flag = z.stringbool({
  truthy: ['true', '1', 'yes', 'on'],
  falsy: ['false', '0', 'no', 'off'],
  error: 'expected true or false',
})

export function integer(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`
  const number = z.int(error).min(min, error).max(max, error)
  return z.string().regex(/^\d+$/, error).transform(Number).pipe(number)
}

const byteUnits: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

/** A number of bytes, such as `64m`, that is not less than `least`. */
export function bytes(least = '0') {
  return z
    .string()
    .regex(/^\d{1,9}\s*(?:[kmg]i?b?|b)?$/i, 'expected a size such as 512k, 64m or 2g')
    .transform((value) => scaled(value, byteUnits))
    .refine((value) => value >= scaled(least, byteUnits), `expected at least ${least}`)
}

const millisecondUnits: Readonly<Record<string, number>> = {
  '': 1000,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** A span of time such as `30s`, in milliseconds. */
export const duration = z
  .string()
  .regex(/^\d{1,7}\s*[smhd]?$/i, 'expected a time such as 30s, 10m or 1h')
  .transform((value) => scaled(value, millisecondUnits))

/**
 * How long something is waited for. Timers count milliseconds in 31 bits, some 24 days: one that is longer, or none, goes
 * off at once, which would end whatever it is to limit.
 */
export function timeLimit(least = '1s') {
  const longest = '24d'
  const error = `expected a time from ${least} to ${longest}`
  const inRange = z
    .number()
    .min(scaled(least, millisecondUnits), error)
    .max(scaled(longest, millisecondUnits), error)
  return duration.pipe(inRange)
}

function scaled(value: string, units: Readonly<Record<string, number>>): number {
  const unit = /[a-z]/i.exec(value)?.[0].toLowerCase() ?? ''
  return Number.parseInt(value, 10) * (units[unit] ?? 1)
}

/** Times that come again, as five fields of cron. */
export const cron = z.string().refine(comesAgain, 'expected five fields of cron such as 30 2 * * *')

/** The same, or `off`. */
export const cronOrOff = z.union([z.literal('off'), cron], {
  error: 'expected off, or five fields of cron such as 30 2 * * *',
})

function comesAgain(value: string): boolean {
  if (value.length > 255 || value.trim().split(/\s+/).length !== 5) return false
  try {
    const options = { mode: '5-part', timezone: 'UTC', paused: true } as const
    return new Cron(value, options).nextRun() !== null
  } catch {
    return false
  }
}

/** An absolute URL of one of these protocols; a slash at its end goes. */
export function url(...protocols: readonly string[]) {
  const protocol = new RegExp(`^(?:${protocols.join('|')})$`)
  const error = `expected a URL that begins with ${protocols.join(':// or ')}://`
  return z.url({ protocol, error }).transform((value) => value.replace(/\/+$/, ''))
}

/** A list between commas or blanks. */
function listOf<T>(one: z.ZodType<T, string>) {
  return z
    .string()
    .transform((value): readonly string[] => value.split(/[\s,]+/).filter((item) => item !== ''))
    .pipe(z.array(one).readonly())
}

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: ({ input }) => `expected addresses or networks, not ${String(input)}`,
})

/** Whether a text is a host, address or network, with an optional port; an IPv6 address with one stands in brackets. */
export function isPlace(value: string): boolean {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(value)
  const [, host = value, port = '80'] = bracketed ?? /^([^:]+):(\d+)$/.exec(value) ?? []
  const isHost =
    /^(?!.*\.\.)[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?\.?$/i.test(host) && !/^[\d.]+$/.test(host)
  return (isHost || network.safeParse(host).success) && Number(port) >= 1 && Number(port) <= 65_535
}

const place = z.string().refine(isPlace, {
  error: ({ input }) => `expected hosts, addresses or networks, not ${String(input)}`,
})

/** Hosts, addresses and networks, each with an optional port. */
export const places = listOf(place)

/** Addresses and networks such as `10.0.0.0/8`. */
export const networks = listOf(network)

const recordId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, {
    error: ({ input }) => `expected numbers of records, not ${String(input)}`,
  })
  .transform(Number)

/** Ids of records. */
export const recordIds = listOf(recordId)

/** Any of some words. */
export function choices<const T extends string>(of: readonly T[]) {
  return listOf(z.enum(of, `expected some of ${of.join(', ')}`))
}
