import { type Day, dayOf, later } from '../../base/clock.ts'

const dayLength = 24 * 60 * 60 * 1000
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
export const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** The day that words such as `2026-05-01`, `in 2 days`, `next friday` or `December 31st` name; undefined for others. */
export function readDay(words: string, today: Day): Day | undefined {
  const text = words.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  const exact = /^\d{4}-\d{2}-\d{2}$/.test(text) ? realDay(text) : undefined
  return exact ?? nearDay(text, today) ?? spanDay(text, today) ?? calendarDay(text, today)
}

/** A day of the calendar, such as `2026-05-01`; undefined for `2026-02-30`. */
export function realDay(text: string): Day | undefined {
  const date = new Date(`${text}T00:00:00.000Z`)
  return Number.isNaN(date.getTime()) || dayOf(date.toISOString()) !== text ? undefined : text
}

/** So many days after a day, or before it. */
export function inDays(today: Day, days: number): Day {
  return dayOf(later(`${today}T00:00:00.000Z`, days * dayLength))
}

function nearDay(text: string, today: Day): Day | undefined {
  if (text === 'today') return today
  if (text === 'tomorrow') return inDays(today, 1)
  const named = /^(?:(this|next) )?([a-z]+)$/.exec(text)
  const wanted = weekdays.findIndex((day) => day === named?.[2] || day.slice(0, 3) === named?.[2])
  if (wanted < 0) return undefined
  const now = new Date(`${today}T00:00:00.000Z`).getUTCDay()
  const ahead = (wanted - now + 7) % 7
  return inDays(today, ahead === 0 && named?.[1] !== 'this' ? 7 : ahead)
}

function spanDay(text: string, today: Day): Day | undefined {
  const found = /^(?:in (\d{1,4}|a|an|one)|next) (day|week|month|year)s?$/.exec(text)
  if (!found) return undefined
  const count = /^\d+$/.test(found[1] ?? '') ? Number(found[1]) : 1
  if (found[2] === 'day') return inDays(today, count)
  if (found[2] === 'week') return inDays(today, 7 * count)
  return inMonths(today, found[2] === 'year' ? 12 * count : count)
}

/** The same day of a later month, or its last one. */
function inMonths(today: Day, count: number): Day {
  const [year = 0, month = 1, day = 1] = today.split('-').map(Number)
  const last = new Date(Date.UTC(year, month + count, 0)).getUTCDate()
  const date = new Date(Date.UTC(year, month - 1 + count, Math.min(day, last)))
  return dayOf(date.toISOString())
}

/** `December 31st`, `31 dec 2027`: the next such day when no year is said. */
function calendarDay(text: string, today: Day): Day | undefined {
  const found =
    /^([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?$/.exec(text) ??
    swapped(/^(\d{1,2})(?:st|nd|rd|th)? ([a-z]{3,9})\.?(?:,? (\d{4}))?$/.exec(text))
  const month = months.findIndex((name) => name.toLowerCase() === found?.[1]?.slice(0, 3))
  if (!found || month < 0) return undefined
  const day = (year: number) =>
    realDay(`${year}-${String(month + 1).padStart(2, '0')}-${String(found[2]).padStart(2, '0')}`)
  if (found[3] !== undefined) return day(Number(found[3]))
  const year = Number(today.slice(0, 4))
  const thisYear = day(year)
  return thisYear !== undefined && thisYear >= today ? thisYear : day(year + 1)
}

function swapped(found: RegExpExecArray | null): (string | undefined)[] | undefined {
  return found ? [found[0], found[2], found[1], found[3]] : undefined
}
