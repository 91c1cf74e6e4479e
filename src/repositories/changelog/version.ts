/** A semantic version taken apart; numbers stay text, for they may be longer than a number holds. */
export interface Version {
  readonly major: string
  readonly minor: string
  readonly patch: string
  readonly pre?: string | undefined
  readonly meta?: string | undefined
}

const NUMBER = '(?:0|[1-9]\\d*)'
const PRE_PART = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)'

/** semver.org's own pattern with named groups, a leading `v` allowed; RE2 syntax (docs/contract/B-resolved §1.8 rule 3). */
export const defaultTagPattern = `^v?(?P<major>${NUMBER})\\.(?P<minor>${NUMBER})\\.(?P<patch>${NUMBER})(?:-(?P<pre>${PRE_PART}(?:\\.${PRE_PART})*))?(?:\\+(?P<meta>[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$`

const versionText = new RegExp(defaultTagPattern.replaceAll('(?P<', '(?<'))

/** No published version is longer, and a longer one only serves to slow us down. */
const longestVersion = 255

/** Reads `1.2.3`, `v1.2.3-rc.1+build`; undefined for anything else. */
export function parseVersion(text: string): Version | undefined {
  if (text.length > longestVersion) return undefined
  const groups = versionText.exec(text)?.groups
  if (!groups) return undefined
  const { major = '', minor = '', patch = '', pre, meta } = groups
  return { major, minor, patch, pre, meta }
}

/** The version as text, without a leading `v`. */
export function formatVersion(version: Version): string {
  const pre = version.pre === undefined ? '' : `-${version.pre}`
  const meta = version.meta === undefined ? '' : `+${version.meta}`
  return `${version.major}.${version.minor}.${version.patch}${pre}${meta}`
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function compareNumbers(a: string, b: string): number {
  const left = a.replace(/^0+(?=\d)/, '')
  const right = b.replace(/^0+(?=\d)/, '')
  return left.length - right.length || compareText(left, right)
}

function comparePart(a: string, b: string): number {
  const numeric = /^\d+$/
  const leftIsNumber = numeric.test(a)
  const rightIsNumber = numeric.test(b)
  if (leftIsNumber && rightIsNumber) return compareNumbers(a, b)
  // semver.org §11: a number is lower than a word.
  if (leftIsNumber !== rightIsNumber) return leftIsNumber ? -1 : 1
  return compareText(a, b)
}

function compareDotted(a: string, b: string): number {
  const left = a.split('.')
  const right = b.split('.')
  for (const [index, part] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    const order = comparePart(part, other)
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** A version without the part is higher (pre-release) or lower (build). */
function compareOptional(a: string | undefined, b: string | undefined, missing: number): number {
  if (a === undefined && b === undefined) return 0
  if (a === undefined) return missing
  if (b === undefined) return -missing
  return compareDotted(a, b)
}

/** Semantic order; the build part, which semver.org leaves unordered, decides last. */
export function compareVersions(a: Version, b: Version): number {
  return (
    compareNumbers(a.major, b.major) ||
    compareNumbers(a.minor, b.minor) ||
    compareNumbers(a.patch, b.patch) ||
    compareOptional(a.pre, b.pre, 1) ||
    compareOptional(a.meta, b.meta, -1)
  )
}
