/** Where a message is shown; empty lists and texts mean everywhere (docs/contract/A-resolved §12). */
export interface Target {
  readonly levels: readonly number[]
  readonly path: string
}

/** Who looks at what: the role in the project or group shown, and the path of the page. */
export interface Viewing {
  readonly role: number
  readonly path?: string | undefined
}

/** Whether a viewer is shown the message: the role must be one of those listed, not "at least". */
export function isShown(target: Target, viewing: Viewing): boolean {
  if (target.levels.length > 0 && !target.levels.includes(viewing.role)) return false
  if (target.path === '') return true
  return viewing.path !== undefined && matchesPath(target.path, viewing.path)
}

/** The whole path, `*` for any text, in any letter case; the slash in front does not count. Linear in both texts. */
function matchesPath(pattern: string, path: string): boolean {
  const parts = withoutSlash(pattern).split('*')
  const text = withoutSlash(path)
  const [first = '', ...rest] = parts
  if (!text.startsWith(first)) return false
  if (rest.length === 0) return text === first
  const last = rest.pop() ?? ''
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

function withoutSlash(path: string): string {
  return path.toLowerCase().replace(/^\//, '')
}
