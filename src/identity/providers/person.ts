/** Somebody as a provider describes them. */
export interface ProvidedPerson {
  /** What the provider calls them for good, whatever their name becomes. */
  readonly uid: string
  /** The username that they would like. */
  readonly username: string
  readonly name: string
  readonly email: string | undefined
  /** Whether the address was shown to be theirs. */
  readonly isEmailProven: boolean
  readonly groups: readonly string[]
}

/** A username that we take, as near to the wanted one as can be; undefined where nothing of it is left. */
export function usableUsername(wanted: string): string | undefined {
  const plain = (wanted.split('@')[0] ?? '')
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[-.]+/, '')
    .replace(/(?:[-.]|\.git|\.atom)+$/i, '')
    .slice(0, 100)
  if (plain === '') return undefined
  // A number alone is read as an id.
  return /^\d+$/.test(plain) ? `user-${plain}` : plain
}
