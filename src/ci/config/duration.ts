const UNITS: Readonly<Record<string, number>> = {
  s: 1,
  sec: 1,
  second: 1,
  m: 60,
  min: 60,
  minute: 60,
  h: 3600,
  hr: 3600,
  hour: 3600,
  d: 86_400,
  day: 86_400,
  w: 604_800,
  week: 604_800,
  mo: 2_592_000,
  month: 2_592_000,
  y: 31_557_600,
  yr: 31_557_600,
  year: 31_557_600,
}

/** Seconds of a text such as `1h 30m`, `3 hours` or `90`; undefined for anything else. */
export function secondsOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value > 0 ? Math.round(value) : undefined
  if (typeof value !== 'string' || value.length > 100) return undefined
  const text = value
    .toLowerCase()
    .replaceAll(/\band\b|,/g, ' ')
    .trim()
  if (/^\d+$/.test(text)) return Number(text) || undefined
  let total = 0
  let rest = text
  while (rest !== '') {
    const found = /^(\d+(?:\.\d+)?)\s*([a-z]+)\s*/.exec(rest)
    const word = found?.[2] ?? ''
    const unit = UNITS[word] ?? UNITS[word.replace(/s$/, '')]
    if (!found || unit === undefined) return undefined
    total += Number(found[1]) * unit
    rest = rest.slice(found[0].length)
  }
  return total > 0 ? Math.round(total) : undefined
}
