/**
 * Whether a name is meant by a pattern in which `*` stands for any characters, slashes included
 * (docs/contract/D §1.5). Each part is searched once from where the last one ended: no backtracking.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split('*')
  const [first = '', ...others] = parts
  const last = others.pop()
  if (last === undefined) return pattern === name
  if (name.length < first.length + last.length) return false
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  const end = name.length - last.length
  let at = first.length
  for (const part of others) {
    const found = name.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** Names of Python packages compare without case, and with runs of `-`, `_` and `.` as one dash (PEP 503). */
export function normalName(name: string): string {
  return name.replaceAll(/[-_.]+/g, '-').toLowerCase()
}
