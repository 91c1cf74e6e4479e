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

/** Whether a path fits a pattern with `*`, `**`, `?`, `[…]` and `{a,b}`, as `rules:changes` and includes use them. */
export function globMatcher(pattern: string): (path: string) => boolean {
  const compiled = RE2JS.compile(globSource(pattern.replace(/^\//, '')))
  return (path) => compiled.matches(path)
}

function globSource(pattern: string): string {
  let source = ''
  let braces = 0
  for (let at = 0; at < pattern.length; at += 1) {
    const rest = pattern.slice(at)
    // With a bound, so that what never closes is not read to its end at each letter.
    const set = /^\[(!|\^)?([^\]/]{1,255})\]/.exec(rest)
    if (rest.startsWith('**/')) {
      source += '(?:[^/]+/)*'
      at += 2
    } else if (rest.startsWith('**')) {
      source += '.*'
      at += 1
    } else if (set) {
      source += `[${set[1] ? '^' : ''}${(set[2] ?? '').replaceAll(/[\\[\]^]/g, String.raw`\$&`)}]`
      at += set[0].length - 1
    } else {
      const { text, depth } = oneLetter(pattern[at] ?? '', braces)
      source += text
      braces = depth
    }
  }
  return `(?s)${source}${')'.repeat(braces)}`
}

function oneLetter(letter: string, braces: number): { text: string; depth: number } {
  if (letter === '*') return { text: '[^/]*', depth: braces }
  if (letter === '?') return { text: '[^/]', depth: braces }
  if (letter === '{') return { text: '(?:', depth: braces + 1 }
  if (letter === '}' && braces > 0) return { text: ')', depth: braces - 1 }
  if (letter === ',' && braces > 0) return { text: '|', depth: braces }
  return { text: RE2JS.quote(letter), depth: braces }
}

/** What people write may be long, or repeat something often; of both together there may be so much. */
const MOST_WORK = 20_000

/** Whether an expression takes so long to compile and to look for that nobody else should wait for it. */
export function isExpensivePattern(source: string): boolean {
  const counts = [...source.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/g)]
  const most = Math.max(1, ...counts.flatMap(([, one, other]) => [Number(one), Number(other ?? 0)]))
  return source.length * most > MOST_WORK
}

/**
 * Whether a text has something in it that an expression describes, in time linear in both; false where it is no
 * expression. Faster than a matcher, which finds out about groups too.
 */
export function hasMatch(source: string, text: string): boolean {
  try {
    return RE2JS.compile(source).test(text)
  } catch {
    return false
  }
}
