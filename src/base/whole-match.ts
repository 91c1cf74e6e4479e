import { RE2JS, RE2JSSyntaxException } from 're2js'

/** An expression that must match the whole of a text, in time linear in it; undefined when it is no expression. */
export function wholeMatch(regex: string): RE2JS | undefined {
  try {
    return RE2JS.compile(`^(?:${regex})$`)
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return undefined
    throw error
  }
}
