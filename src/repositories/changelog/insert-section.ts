import { compareVersions, parseVersion, type Version } from './version.ts'

interface Heading {
  readonly version: Version
  readonly at: number
}

const headingLine = /^##[ \t]+(\S{1,256})(?=[ \t\r]|$)/

/** The `## <version>` lines of a changelog, with their offsets. */
function headings(content: string): Heading[] {
  const found: Heading[] = []
  let at = 0
  while (at < content.length) {
    const newline = content.indexOf('\n', at)
    const end = newline < 0 ? content.length : newline
    const line = content.startsWith('##', at) ? content.slice(at, end) : ''
    const version = parseVersion(headingLine.exec(line)?.[1] ?? '')
    if (version) found.push({ version, at })
    at = end + 1
  }
  return found
}

/**
 * The changelog file with the section put before the first section of a lower version, or at the end
 * with a blank line between; undefined when the version has a section already (docs/contract/B-resolved §1.8 rule 7).
 * `section` ends with a blank line.
 */
export function insertSection(
  content: string,
  version: Version,
  section: string,
): string | undefined {
  const existing = headings(content)
  if (existing.some((heading) => compareVersions(heading.version, version) === 0)) return undefined
  const next = existing.find((heading) => compareVersions(heading.version, version) < 0)
  if (next) return content.slice(0, next.at) + section + content.slice(next.at)
  const last = `${section.trimEnd()}\n`
  if (content.trim() === '') return last
  const open = content.endsWith('\n') ? content : `${content}\n`
  return /\n\r?\n$/.test(open) ? open + last : `${open}\n${last}`
}
