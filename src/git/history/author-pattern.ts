import { PatternBudget } from '../../base/patterns/budget.ts'
import { PatternLimitError, PatternSyntaxError } from '../../base/patterns/pattern.ts'
import { GitError } from '../error.ts'

/** Of each author, `Name <mail>`, whether a pattern finds it. */
export type AuthorTest = (authors: readonly string[]) => Promise<readonly boolean[]>

/**
 * A test that finds what `git log --author` finds: a POSIX basic expression, case counts. Matched in linear time; what
 * such a matcher cannot do (back references), or what a short pattern makes long (counted repetitions), is `invalid`.
 */
export function authorTest(pattern: string): AuthorTest {
  if (pattern.includes('\0')) throw notUnderstood()
  if (!/[\\.*^$[]/.test(pattern)) {
    return async (authors) => authors.map((author) => author.includes(pattern))
  }
  const source = fromBasic(pattern)
  const budget = new PatternBudget({ timeoutMs: LONGEST_MS })
  return async (authors) => {
    try {
      return await budget.testEach([{ source }], authors)
    } catch (error) {
      if (error instanceof PatternSyntaxError) throw notUnderstood()
      if (!(error instanceof PatternLimitError)) throw error
      throw new GitError('invalid', `the author pattern ${error.message}`, { of: 'author' })
    }
  }
}

/** All authors of a long history are looked at once. */
const LONGEST_MS = 10_000

function notUnderstood(): GitError {
  return new GitError('invalid', 'the author pattern is not understood', { of: 'author' })
}

const plain = new Set(['(', ')', '{', '}', '|', '+', '?'])

/** A basic expression in today's syntax: there `\(` groups and `(` stands for itself. */
function fromBasic(pattern: string): string {
  let out = ''
  let at = 0
  while (at < pattern.length) {
    const [piece, length] = translate(pattern, at)
    out += piece
    at += length
  }
  return out
}

function translate(pattern: string, at: number): [piece: string, length: number] {
  const char = pattern[at] ?? ''
  if (char === '[') return translateSet(pattern, at)
  if (char === '\\') return translateEscape(pattern[at + 1] ?? '')
  const atStart = startsExpression(pattern, at)
  // A star with nothing before it and a `^` that starts nothing stand for themselves.
  if ((char === '*' && atStart) || (char === '^' && !atStart)) return [`\\${char}`, 1]
  return [plain.has(char) ? `\\${char}` : char, 1]
}

/** A set of characters: a bracket at its start is a member, and so is a class such as `[:upper:]`. */
const anySet = /^\[\^?\]?(?:\[:[a-z]+:\]|[^\]])*\]/

function translateSet(pattern: string, at: number): [piece: string, length: number] {
  const [set] = anySet.exec(pattern.slice(at)) ?? []
  if (set === undefined) throw notUnderstood()
  return [set.replaceAll('\\', '\\\\'), set.length]
}

function translateEscape(next: string): [piece: string, length: number] {
  // Back references are not linear.
  if (/[1-9]/.test(next)) throw notUnderstood()
  // A hundred of them, a thousand times each, would keep the process busy for minutes.
  if (next === '{') throw notUnderstood()
  return [plain.has(next) ? next : `\\${next}`, 2]
}

function startsExpression(pattern: string, at: number): boolean {
  const before = pattern.slice(0, at)
  return before === '' || before === '^' || before.endsWith('\\(') || before.endsWith('\\|')
}
