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

const filled = z.string().min(1, 'expected a text that is not empty')

export function text(fallback: string, about: About): Setting<string> {
  return setting(filled, fallback, about)
}

/** A text that may be missing. */
export function optionalText(about: About): Setting<string | undefined> {
  return optional(filled, about)
}

/** A word that may be missing. */
export function optionalWord(
  pattern: RegExp,
  expected: string,
  about: About,
): Setting<string | undefined> {
  return optional(z.string().regex(pattern, expected), about)
}

export function email(fallback: string, about: About): Setting<string> {
  const address = /^[^\s@<>,;]+@[^\s@<>,;]+$/
  return word(fallback, address, 'expected an address such as git@example.com', about)
}

export function word(
  fallback: string,
  pattern: RegExp,
  expected: string,
  about: About,
): Setting<string> {
  return setting(z.string().regex(pattern, expected), fallback, about)
}

export function choice<const T extends string>(
  fallback: NoInfer<T>,
  words: readonly T[],
  about: About,
): Setting<T> {
  return setting(z.enum(words, `expected one of ${words.join(', ')}`), fallback, about)
}

export function flag(fallback: boolean, about: About): Setting<boolean> {
  const schema = z.stringbool({
    truthy: ['true', '1', 'yes', 'on'],
    falsy: ['false', '0', 'no', 'off'],
    error: 'expected true or false',
  })
  return setting(schema, String(fallback), about)
}

export function integer(
  fallback: number,
  range: { readonly min: number; readonly max: number },
  about: About,
): Setting<number> {
  const error = `expected a whole number from ${range.min} to ${range.max}`
  const number = z.int(error).min(range.min, error).max(range.max, error)
  const schema = z.string().regex(/^\d+$/, error).transform(Number).pipe(number)
  return setting(schema, String(fallback), about)
}

const byteUnits: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

/** A number of bytes, such as `64m`; with `least`, not less than that. */
export function bytes(shown: string, about: About, least = '0'): Setting<number> {
  const schema = z
    .string()
    .regex(/^\d{1,9}\s*(?:[kmg]i?b?|b)?$/i, 'expected a size such as 512k, 64m or 2g')
    .transform((value) => scaled(value, byteUnits))
    .refine((value) => value >= scaled(least, byteUnits), `expected at least ${least}`)
  return setting(schema, shown, about)
}

const millisecondUnits: Readonly<Record<string, number>> = {
  '': 1000,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

const milliseconds = z
  .string()
  .regex(/^\d{1,7}\s*[smhd]?$/i, 'expected a time such as 30s, 10m or 1h')
  .transform((value) => scaled(value, millisecondUnits))

/** A span of time such as `30s`, in milliseconds. */
export function duration(shown: string, about: About): Setting<number> {
  return setting(milliseconds, shown, about)
}

const longestWaitDays = 24

/**
 * How long something is waited for. Timers count milliseconds in 31 bits, some 24 days: one that is longer, or none, goes
 * off at once, which would end whatever it is to limit.
 */
export function timeLimit(
  shown: string,
  about: About & { readonly mayBeNone?: boolean },
): Setting<number> {
  const least = about.mayBeNone ? 0 : 1000
  const error = `expected a time from ${least === 0 ? '0' : '1s'} to ${longestWaitDays}d`
  const inRange = z
    .number()
    .min(least, error)
    .max(longestWaitDays * 86_400_000, error)
  return setting(milliseconds.pipe(inRange), shown, about)
}

function scaled(value: string, units: Readonly<Record<string, number>>): number {
  const unit = /[a-z]/i.exec(value)?.[0].toLowerCase() ?? ''
  return Number.parseInt(value, 10) * (units[unit] ?? 1)
}

/** An absolute URL of one of these protocols, that may be missing; a slash at its end goes. */
export function optionalUrl(
  protocols: readonly string[],
  about: About,
): Setting<string | undefined> {
  return optional(urlOf(protocols), about)
}

/** As `optionalUrl`, for one that is always there. */
export function url(fallback: string, protocols: readonly string[], about: About): Setting<string> {
  return setting(urlOf(protocols), fallback, about)
}

function urlOf(protocols: readonly string[]) {
  const protocol = new RegExp(`^(?:${protocols.map((one) => one.replace(':', '')).join('|')})$`)
  const error = `expected a URL that begins with ${protocols.join('// or ')}//`
  return z.url({ protocol, error }).transform((value) => value.replace(/\/+$/, ''))
}

const words = z.string().transform((value) => value.split(/[\s,]+/).filter((item) => item !== ''))

const address = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])

/** Whether a text is a host, address or network, with an optional port; an IPv6 address with one stands in brackets. */
export function isPlace(value: string): boolean {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(value)
  const [, host = value, port = '80'] = bracketed ?? /^([^:]+):(\d+)$/.exec(value) ?? []
  const isHost =
    /^(?!.*\.\.)[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?\.?$/i.test(host) && !/^[\d.]+$/.test(host)
  return (isHost || address.safeParse(host).success) && Number(port) >= 1 && Number(port) <= 65_535
}

const place = z.string().refine(isPlace, {
  error: ({ input }) => `expected hosts, addresses or networks, not ${String(input)}`,
})

/** Hosts, addresses and networks between commas or blanks, each with an optional port. */
export function places(about: About): Setting<readonly string[]> {
  return setting(words.pipe(z.array(place)), '', about)
}

const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: ({ input }) => `expected addresses or networks, not ${String(input)}`,
})

/** Addresses and networks (`10.0.0.0/8`) between commas. */
export function networks(about: About): Setting<readonly string[]> {
  return setting(words.pipe(z.array(network)), '', about)
}

const recordId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, {
    error: ({ input }) => `expected numbers of records, not ${String(input)}`,
  })
  .transform(Number)

/** Ids of records between commas or blanks. */
export function recordIds(about: About): Setting<readonly number[]> {
  return setting(words.pipe(z.array(recordId)), '', about)
}

/** Any of some words between commas or blanks. */
export function choices<const T extends string>(
  of: readonly T[],
  about: About,
): Setting<readonly T[]> {
  const schema = words.pipe(z.array(z.enum(of, `expected some of ${of.join(', ')}`)))
  return setting(schema, '', about)
}

function setting<T>(schema: z.ZodType<T, unknown>, shown: string, about: About): Setting<T> {
  const { doc, secret = false } = about
  return { doc, fallback: schema.parse(shown), shown, secret, schema }
}

function optional<T>(schema: z.ZodType<T, unknown>, about: About): Setting<T | undefined> {
  const { doc, secret = false } = about
  return { doc, fallback: undefined, shown: '', secret, schema }
}
