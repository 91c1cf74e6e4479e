/** Where a browser may be sent after signing in: a page of this server, never another's. */
export function safeReturn(path: string | undefined): string | undefined {
  if (path === undefined || path.length > 4000) return undefined
  // `//host` and `/\host` are other servers to a browser, and control signs are dropped by it.
  if (!/^\/(?![/\\])[\x21-\x7e]*$/.test(path) || path.includes('\\')) return undefined
  return path
}
