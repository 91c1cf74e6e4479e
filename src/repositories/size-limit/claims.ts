import type { Repo } from '../../git/repo.ts'

/*
 * Bytes on their way into repositories. Between the look at a push and the moment when its objects lie in the repository
 * others are looked at too: they count what was let in before them, or together they would pass the limit.
 */

const claims = new Map<string, Map<object, number>>()
const looks = new Map<string, Set<Map<object, number>>>()

type Named = Pick<Repo, 'key'>

/**
 * Measures a repository, adds what was let in before or meanwhile and may not have been there yet (it is counted twice rather
 * than not at all), and decides with the sum. Whoever claims bytes does it in `decide`: between the measure and the claim
 * nothing waits, so that of two looks that end in the same moment the second sees the claim of the first.
 */
export async function withClaims<T>(
  { key }: Named,
  measure: () => Promise<number>,
  decide: (size: number) => T,
): Promise<T> {
  const coming = new Map(claims.get(key))
  const open = looks.get(key) ?? new Set()
  looks.set(key, open.add(coming))
  try {
    const size = await measure()
    return decide([...coming.values()].reduce((sum, bytes) => sum + bytes, size))
  } finally {
    open.delete(coming)
    if (open.size === 0) looks.delete(key)
  }
}

/** Counts the bytes for whoever comes meanwhile, until `leaveBytes`. */
export function claimBytes({ key }: Named, holder: object, bytes: number): void {
  const known = claims.get(key) ?? new Map<object, number>()
  claims.set(key, known.set(holder, bytes))
  for (const look of looks.get(key) ?? []) look.set(holder, bytes)
}

/** The bytes are in the repository, or will not come. */
export function leaveBytes({ key }: Named, holder: object): void {
  const known = claims.get(key)
  known?.delete(holder)
  if (known?.size === 0) claims.delete(key)
}
