import { type Compiled, compilePattern } from '../../base/patterns/compiled.ts'
import { PatternLimitError, PatternSyntaxError } from '../../base/patterns/pattern.ts'
import { ChangelogFailure } from './failure.ts'
import { compareVersions, type Version } from './version.ts'

/** A pattern longer than this serves no purpose but to slow us down. */
const longestPattern = 2000

function compile(pattern: string): Compiled {
  const invalid =
    'The regular expression to use for finding the previous tag for a version is invalid'
  if (pattern.length > longestPattern) {
    throw new ChangelogFailure(`${invalid}: it is longer than ${longestPattern} characters`)
  }
  try {
    return compilePattern({ source: pattern })
  } catch (error) {
    if (error instanceof PatternLimitError)
      throw new ChangelogFailure(`${invalid}: it ${error.message}`)
    if (!(error instanceof PatternSyntaxError)) throw error
    throw new ChangelogFailure(`${invalid}: ${error.message}`)
  }
}

/** The version a tag stands for, or undefined for a tag that never serves as a start. */
function versionOf(regex: Compiled, name: string): Version | undefined {
  const groups = regex.namedGroups()
  const matcher = regex.matcher(name)
  if (!matcher.find()) return undefined
  const group = (key: string) =>
    Object.hasOwn(groups, key) ? (matcher.group(key) ?? undefined) : undefined
  const [major, minor, patch] = [group('major'), group('minor'), group('patch')]
  if (!major || !minor || !patch || group('pre')) return undefined
  return { major, minor, patch, meta: group('meta') }
}

/**
 * The tag whose version comes just below the requested one, docs/contract/B-resolved §1.8 rule 3. The pattern is a
 * user's: RE2 syntax, matched in time linear in the name.
 */
export function previousTag(
  tags: readonly string[],
  requested: Version,
  pattern: string,
): string | undefined {
  const regex = compile(pattern)
  let best: { readonly tag: string; readonly version: Version } | undefined
  for (const tag of tags) {
    const version = versionOf(regex, tag)
    if (!version || compareVersions(version, requested) >= 0) continue
    if (!best || compareVersions(version, best.version) > 0) best = { tag, version }
  }
  return best?.tag
}
