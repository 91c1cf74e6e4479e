import { isIP } from 'node:net'

/** One line of the configuration table: how a value is read, and what the README says about it. */
export interface Setting<T> {
  readonly doc: string
  readonly fallback: T
  /** The default as people write it. */
  readonly shown: string
  readonly secret: boolean
  /** Throws an Error that says what was expected. */
  parse(text: string): T
}

interface About {
  readonly doc: string
  readonly secret?: boolean
}

export function text(fallback: string, about: About): Setting<string> {
  return setting(fallback, fallback, about, (value) => value)
}

/** A text that may be missing. */
export function optionalText(about: About): Setting<string | undefined> {
  return setting<string | undefined>(undefined, '', about, (value) => value)
}

export function word(fallback: string, pattern: RegExp, expected: string, about: About) {
  return setting(fallback, fallback, about, (value) => {
    if (!pattern.test(value)) throw new Error(expected)
    return value
  })
}

export function choice<const T extends string>(
  fallback: NoInfer<T>,
  words: readonly T[],
  about: About,
): Setting<T> {
  return setting<T>(fallback, fallback, about, (value) => {
    const found = words.find((one) => one === value)
    if (found === undefined) throw new Error(`expected one of ${words.join(', ')}`)
    return found
  })
}

export function flag(fallback: boolean, about: About): Setting<boolean> {
  return setting(fallback, String(fallback), about, (value) => {
    if (/^(true|1|yes|on)$/i.test(value)) return true
    if (/^(false|0|no|off)$/i.test(value)) return false
    throw new Error('expected true or false')
  })
}

export function integer(
  fallback: number,
  range: { readonly min: number; readonly max: number },
  about: About,
): Setting<number> {
  return setting(fallback, String(fallback), about, (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (number >= range.min && number <= range.max) return number
    throw new Error(`expected a whole number from ${range.min} to ${range.max}`)
  })
}

const byteUnits: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

/** A number of bytes, such as `64m`. */
export function bytes(shown: string, about: About): Setting<number> {
  const parse = (value: string) => {
    const [, number, unit] = /^(\d{1,9})\s*([kmg]?)(?:i?b)?$/i.exec(value) ?? []
    const factor = byteUnits[(unit ?? '-').toLowerCase()]
    if (number === undefined || factor === undefined) {
      throw new Error('expected a size such as 512k, 64m or 2g')
    }
    return Number(number) * factor
  }
  return setting(parse(shown), shown, about, parse)
}

const secondUnits: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }

/** A span of time such as `30s`, in milliseconds. */
export function duration(shown: string, about: About): Setting<number> {
  const parse = (value: string) => {
    const [, number, unit] = /^(\d{1,7})\s*([smhd]?)$/i.exec(value) ?? []
    const factor = secondUnits[(unit ?? '-').toLowerCase()]
    if (number === undefined || factor === undefined) {
      throw new Error('expected a time such as 30s, 10m or 1h')
    }
    return Number(number) * factor * 1000
  }
  return setting(parse(shown), shown, about, parse)
}

/** An absolute URL of one of these protocols, that may be missing; a slash at its end goes. */
export function optionalUrl(
  protocols: readonly string[],
  about: About,
): Setting<string | undefined> {
  return setting<string | undefined>(undefined, '', about, (value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined
    if (!url || !protocols.includes(url.protocol)) {
      throw new Error(`expected a URL that begins with ${protocols.join('// or ')}//`)
    }
    return value.replace(/\/+$/, '')
  })
}

/** Words between commas or blanks. */
export function list(about: About): Setting<readonly string[]> {
  return setting<readonly string[]>([], '', about, splitList)
}

/** Addresses and networks (`10.0.0.0/8`) between commas. */
export function networks(about: About): Setting<readonly string[]> {
  return setting<readonly string[]>([], '', about, (value) => {
    const items = splitList(value)
    const wrong = items.find((item) => !isNetwork(item))
    if (wrong !== undefined) throw new Error(`expected addresses or networks, not ${wrong}`)
    return items
  })
}

function isNetwork(item: string): boolean {
  const [address = '', bits, ...more] = item.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

function splitList(value: string): string[] {
  return value.split(/[\s,]+/).filter((item) => item !== '')
}

function setting<T>(
  fallback: T,
  shown: string,
  about: About,
  parse: (value: string) => T,
): Setting<T> {
  return { doc: about.doc, fallback, shown, secret: about.secret ?? false, parse }
}
