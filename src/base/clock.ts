/** A moment in UTC, ISO 8601 with milliseconds and `Z`: sorts as text and goes to the wire as it is. */
export type Instant = string

/** A calendar day, `YYYY-MM-DD`. */
export type Day = string

/** The only place that reads the time; everything else is given `now`. */
export function systemClock(): Instant {
  return new Date().toISOString()
}

/** The UTC day of an instant. */
export function dayOf(instant: Instant): Day {
  return instant.slice(0, 10)
}

/** The instant `milliseconds` later (or earlier, when negative). */
export function later(instant: Instant, milliseconds: number): Instant {
  return new Date(Date.parse(instant) + milliseconds).toISOString()
}
