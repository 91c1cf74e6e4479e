import { type CST, Parser } from 'yaml'

/** Far more levels than anybody writes, and far fewer than the stack has room for. */
const MOST_LEVELS = 200

/**
 * Whether what stands in a text of YAML is nested so little that it may be parsed. To make values of it, the library calls
 * itself for each level; and where the stack has no room to compile a regular expression, V8 does not throw: it ends the
 * process, in a worker thread too. The tokens that are looked at here are made without such calls.
 */
export function isShallow(text: string): boolean {
  const open: { readonly token: CST.Token; readonly level: number }[] = []
  for (const root of new Parser().parse(text)) {
    open.push({ token: root, level: 0 })
    for (let next = open.pop(); next; next = open.pop()) {
      const { token, level } = next
      if (level > MOST_LEVELS) return false
      for (const inner of within(token)) open.push({ token: inner, level: level + 1 })
    }
  }
  return true
}

function within(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value ? [token.value] : []
  if (!('items' in token)) return []
  return token.items.flatMap(({ key, value }) => [key ?? [], value ?? []].flat())
}
