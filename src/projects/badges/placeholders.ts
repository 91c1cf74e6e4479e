/** What the placeholders of a badge stand for in one project; what has no value stays as it was written. */
export type PlaceholderValues = Readonly<Record<string, string | undefined>>

const PLACEHOLDER = /%(?:\{|%7B)([a-z_]{1,40})(?:\}|%7D)|%7B([a-z_]{1,40})%7D/gi

/** Whether a text holds the placeholder `name`, so that values that cost something are only looked up when asked for. */
export function mentions(texts: readonly string[], name: string): boolean {
  return texts.some((text) => text.includes(name))
}

/**
 * Fills `%{name}` and its percent-encoded form (docs/contract/B-resolved §10). `vendorWords` are the prefixes under which the
 * server's own placeholders are known: `svc_server`, `svc_pages_domain`.
 */
export function fillPlaceholders(
  url: string,
  values: PlaceholderValues,
  vendorWords: readonly string[],
): string {
  const { server, pages_domain, ...own } = values
  const known: Record<string, string | undefined> = own
  for (const word of vendorWords) {
    known[`${word}_server`] = server
    known[`${word}_pages_domain`] = pages_domain
  }
  return url.replaceAll(PLACEHOLDER, (whole, plain?: string, encoded?: string) => {
    const name = (plain ?? encoded ?? '').toLowerCase()
    return Object.hasOwn(known, name) ? (known[name] ?? whole) : whole
  })
}

/** Whether a URL may be stored as a badge's: http or https, also with placeholders in it; never a script. */
export function isBadgeUrl(url: string): boolean {
  const plain = url.replaceAll(PLACEHOLDER, 'x')
  if (!/^https?:\/\//i.test(plain) || /[\s<>"'`]/.test(plain) || plain.length > 2048) return false
  return URL.canParse(plain)
}
