import type { Person } from '../types.ts'

/** A `name <email> seconds zone` line, read as leniently as git does (`split_ident_line`). */
export function parsePerson(line: string): Person {
  const opened = line.indexOf('<')
  const closed = line.indexOf('>', opened + 1)
  if (opened < 0 || closed < 0) {
    return { name: line.trim(), email: '', ...moment(0, '+0000') }
  }
  const name = line.slice(0, opened).trim()
  const email = line.slice(opened + 1, closed).trim()
  // A broken name may hold more brackets: the date follows the last one.
  const found = /^\s*(\d+)(?:\s+([-+]\d+))?/.exec(line.slice(line.lastIndexOf('>') + 1))
  return { name, email, ...moment(Number(found?.[1] ?? 0), found?.[2] ?? '+0000') }
}

/** The last second that `Date` can hold. */
const lastSecond = 8_640_000_000_000

function moment(seconds: number, zone: string): Pick<Person, 'seconds' | 'offset' | 'date'> {
  const known = Number.isSafeInteger(seconds) && seconds < lastSecond ? seconds : 0
  const digits = Math.abs(Number.parseInt(zone, 10))
  const minutes = Math.trunc(digits / 100) * 60 + (digits % 100)
  // Nowhere on earth is further away; a nonsense zone counts as UTC.
  const size = minutes <= 24 * 60 ? minutes : 0
  const offset = zone.startsWith('-') && size > 0 ? -size : size
  return { seconds: known, offset, date: isoWithOffset(known, offset) }
}

/** `2021-09-20T09:06:12.000+02:00`: local time and offset of the one who wrote it. */
function isoWithOffset(seconds: number, offset: number): string {
  const local = new Date((seconds + offset * 60) * 1000).toISOString().slice(0, -1)
  const size = Math.abs(offset)
  const hours = String(Math.trunc(size / 60)).padStart(2, '0')
  const minutes = String(size % 60).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${hours}:${minutes}`
}
