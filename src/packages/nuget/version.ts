import semver from 'semver'

/** A version as NuGet compares it (`1.0`, `01.0.0.0` and `1.0.0` are one); nothing for what is no version. */
export function normalVersion(version: string): string | undefined {
  const parts =
    /^(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(-[0-9A-Za-z.-]{1,128})?(\+[0-9A-Za-z.-]{0,128})?$/.exec(
      version,
    )
  if (!parts) return undefined
  const [, major = '0', minor = '0', patch = '0', revision = '0', label = ''] = parts
  const numbers = [major, minor, patch, revision].map(Number)
  if (numbers[3] === 0) numbers.pop()
  return numbers.join('.') + label
}

export function isPrerelease(version: string): boolean {
  return version.includes('-')
}

/** Orders normal versions, the lowest first: numbers as numbers, a pre-release before its release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map(split)
  if (!left || !right) return 0
  for (let at = 0; at < 4; at++) {
    const difference = (left.numbers[at] ?? 0) - (right.numbers[at] ?? 0)
    if (difference !== 0) return difference
  }
  if (left.labels.length === 0 || right.labels.length === 0) {
    return right.labels.length - left.labels.length
  }
  return compareLabels(left.labels, right.labels)
}

function split(version: string): { numbers: number[]; labels: string[] } {
  const dash = version.indexOf('-')
  const plain = dash < 0 ? version : version.slice(0, dash)
  const labels =
    dash < 0
      ? []
      : version
          .slice(dash + 1)
          .toLowerCase()
          .split('.')
  return { numbers: plain.split('.').map(Number), labels }
}

function compareLabels(a: readonly string[], b: readonly string[]): number {
  for (const [at, left] of a.entries()) {
    const right = b[at]
    if (right === undefined) return 1
    const difference = semver.compareIdentifiers(left, right)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
