const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')
const months =
  'January February March April May June July August September October November December'.split(' ')

const dayLength = 86_400_000

/** A number and how it is padded when the format does not say otherwise. */
interface Field {
  readonly value: number | string
  readonly width?: number | undefined
  readonly pad?: '0' | ' ' | undefined
}

function number(value: number, width: number, pad: '0' | ' ' = '0'): Field {
  return { value, width, pad }
}

function yearDay(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / dayLength) + 1
}

/** ISO 8601 week and the year it belongs to: that of its Thursday. */
function isoWeek(date: Date): { year: number; week: number } {
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * dayLength)
  return { year: thursday.getUTCFullYear(), week: Math.ceil(yearDay(thursday) / 7) }
}

function weekFrom(date: Date, firstDay: number): number {
  const weekday = (date.getUTCDay() - firstDay + 7) % 7
  return Math.floor((yearDay(date) + 6 - weekday) / 7)
}

const twelve = (date: Date) => date.getUTCHours() % 12 || 12
const half = (date: Date) => (date.getUTCHours() < 12 ? 'AM' : 'PM')

const fields: Readonly<Record<string, (date: Date) => Field>> = {
  Y: (date) => number(date.getUTCFullYear(), 4),
  C: (date) => number(Math.floor(date.getUTCFullYear() / 100), 2),
  y: (date) => number(date.getUTCFullYear() % 100, 2),
  m: (date) => number(date.getUTCMonth() + 1, 2),
  B: (date) => ({ value: months[date.getUTCMonth()] ?? '' }),
  b: (date) => ({ value: (months[date.getUTCMonth()] ?? '').slice(0, 3) }),
  h: (date) => ({ value: (months[date.getUTCMonth()] ?? '').slice(0, 3) }),
  d: (date) => number(date.getUTCDate(), 2),
  e: (date) => number(date.getUTCDate(), 2, ' '),
  j: (date) => number(yearDay(date), 3),
  H: (date) => number(date.getUTCHours(), 2),
  k: (date) => number(date.getUTCHours(), 2, ' '),
  I: (date) => number(twelve(date), 2),
  l: (date) => number(twelve(date), 2, ' '),
  M: (date) => number(date.getUTCMinutes(), 2),
  S: (date) => number(date.getUTCSeconds(), 2),
  L: (date) => number(date.getUTCMilliseconds(), 3),
  N: (date) => number(date.getUTCMilliseconds() * 1_000_000, 9),
  p: (date) => ({ value: half(date) }),
  P: (date) => ({ value: half(date).toLowerCase() }),
  A: (date) => ({ value: days[date.getUTCDay()] ?? '' }),
  a: (date) => ({ value: (days[date.getUTCDay()] ?? '').slice(0, 3) }),
  u: (date) => number(date.getUTCDay() || 7, 1),
  w: (date) => number(date.getUTCDay(), 1),
  G: (date) => number(isoWeek(date).year, 4),
  g: (date) => number(isoWeek(date).year % 100, 2),
  V: (date) => number(isoWeek(date).week, 2),
  U: (date) => number(weekFrom(date, 0), 2),
  W: (date) => number(weekFrom(date, 1), 2),
  s: (date) => number(Math.floor(date.getTime() / 1000), 1),
  z: () => ({ value: '+0000' }),
  Z: () => ({ value: 'UTC' }),
  n: () => ({ value: '\n' }),
  t: () => ({ value: '\t' }),
  '%': () => ({ value: '%' }),
}

const combined: Readonly<Record<string, string>> = {
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  T: '%H:%M:%S',
  R: '%H:%M',
  r: '%I:%M:%S %p',
  c: '%a %b %e %H:%M:%S %Y',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
  v: '%e-%^b-%Y',
  '+': '%a %b %e %H:%M:%S %Z %Y',
}

function padded(field: Field, flags: string, width: string): string {
  const text = String(field.value)
  if (flags.includes('-')) return text
  const asked = width === '' ? (field.width ?? 0) : Number(width)
  const pad = flags.includes('_') ? ' ' : flags.includes('0') ? '0' : (field.pad ?? ' ')
  return text.padStart(asked, pad)
}

function cased(text: string, flags: string): string {
  if (flags.includes('^')) return text.toUpperCase()
  if (!flags.includes('#')) return text
  return text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase()
}

/**
 * Formats a moment in UTC by a strftime pattern (`date_format`, docs/contract/B-resolved §1.8), with the flags
 * `-0^#_` and a width of up to two digits. Unknown directives stay as they are.
 */
export function strftime(instant: string, format: string): string {
  const date = new Date(instant)
  return format.replace(
    /%([-0^#_]*)(\d{0,2})(:?[a-zA-Z%+])/g,
    (whole, flags: string, width: string, directive: string) => {
      if (directive === ':z') return '+00:00'
      const pattern = Object.hasOwn(combined, directive) ? combined[directive] : undefined
      if (pattern !== undefined) return cased(strftime(instant, pattern), flags)
      const field = Object.hasOwn(fields, directive) ? fields[directive]?.(date) : undefined
      return field ? cased(padded(field, flags, width), flags) : whole
    },
  )
}
