import { quote } from './compiled.ts'
import type { Pattern } from './pattern.ts'

/** A pattern for paths with `*`, `**`, `?`, `[…]` and `{a,b}`, as `rules:changes` and includes use them. */
export function globPattern(glob: string): Pattern {
  return { source: globSource(glob.replace(/^\//, '')), flags: 's', whole: true }
}

/** A pattern for paths in which `*` is anything within one folder, `**` anything at all, and all else itself. */
export function wildcardPattern(text: string): Pattern {
  const source = text.replaceAll(/\*\*|[\s\S]/gu, (part) => {
    if (part === '**') return '.*'
    return part === '*' ? '[^/]*' : quote(part)
  })
  return { source, flags: 's', whole: true }
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
  return `${source}${')'.repeat(braces)}`
}

function oneLetter(letter: string, braces: number): { text: string; depth: number } {
  if (letter === '*') return { text: '[^/]*', depth: braces }
  if (letter === '?') return { text: '[^/]', depth: braces }
  if (letter === '{') return { text: '(?:', depth: braces + 1 }
  if (letter === '}' && braces > 0) return { text: ')', depth: braces - 1 }
  if (letter === ',' && braces > 0) return { text: '|', depth: braces }
  return { text: quote(letter), depth: braces }
}
