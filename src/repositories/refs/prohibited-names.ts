/**
 * Names that would be read as something else: a whole object id, a full ref name (docs/contract/D §3.7), the head of a
 * repository.
 */
export function isProhibited(name: string): boolean {
  return /^[0-9a-f]{40}$|^[0-9a-f]{64}$/i.test(name) || name.startsWith('refs/') || name === 'HEAD'
}
