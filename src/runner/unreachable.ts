/** What a certificate lacks when nobody here knows who vouches for it. */
const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** A server that could not be asked: where it was looked for, and why there was no answer. */
export class UnreachableError extends Error {
  constructor(address: string, error: unknown) {
    super(`${address} cannot be reached: ${causeOf(error)}`, { cause: error })
    this.name = 'UnreachableError'
  }
}

/** `fetch failed` says nothing; what made it fail is below it. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [inner = error.cause] = error instanceof AggregateError ? error.errors : []
  if (inner instanceof Error) return causeOf(inner)
  const code = 'code' in error ? String(error.code) : ''
  const hint = UNKNOWN_AUTHORITY.has(code)
    ? ', this machine does not trust the authority of its certificate (docs/ci.md, "Certificates")'
    : ''
  return `${error.message || code}${hint}`
}
