import type { PatternBudget } from '../../base/patterns/budget.ts'
import { betweenSlashes, type Pattern } from '../../base/patterns/pattern.ts'
import { hasPattern } from './has-pattern.ts'
import type { Variables } from './variables.ts'

/** What a condition is about; all comparisons of one configuration share a budget. */
export interface Conditions {
  readonly variables: Variables
  readonly patterns: PatternBudget
}

/** A condition such as `$CI_COMMIT_BRANCH == "main" && $DEPLOY` (docs/contract/D §5.4). */
export type Expression = (at: Conditions) => Promise<boolean>

type Operand = string | null | Pattern
type Read = (variables: Variables) => Operand
type Token =
  | { readonly kind: 'value'; readonly read: Read }
  | { readonly kind: 'sign'; readonly sign: string }

const LONGEST = 10_000
const DEEPEST = 100
const TOKEN =
  /\s*(?:\$(\w+)|"([^"]*)"|'([^']*)'|(null)\b|(&&|\|\||==|!=|=~|!~|!|\(|\))|\/((?:\\.|[^/\\])+)\/([ims]*))/y

/** Reads a condition; undefined when it is none. */
export function parseExpression(text: string): Expression | undefined {
  const tokens = tokensOf(text)
  if (!tokens || tokens.length === 0) return undefined
  const reader = { tokens, at: 0, depth: 0 }
  const found = readOr(reader)
  return found && reader.at === tokens.length ? found : undefined
}

function tokensOf(text: string): Token[] | undefined {
  const trimmed = text.trim()
  if (trimmed.length > LONGEST) return undefined
  const tokens: Token[] = []
  const pattern = new RegExp(TOKEN)
  while (pattern.lastIndex < trimmed.length) {
    const found = pattern.exec(trimmed)
    if (!found) return undefined
    tokens.push(tokenOf(found))
  }
  return tokens
}

function tokenOf(found: RegExpExecArray): Token {
  const [, name, double, single, nothing, sign, source, flags] = found
  if (sign !== undefined) return { kind: 'sign', sign }
  if (name !== undefined) {
    return { kind: 'value', read: (variables) => variables.get(name) ?? null }
  }
  if (nothing !== undefined) return { kind: 'value', read: () => null }
  if (source !== undefined) {
    const value = { source: source.replaceAll(String.raw`\/`, '/'), flags: flags ?? '' }
    return { kind: 'value', read: () => value }
  }
  const value = double ?? single ?? ''
  return { kind: 'value', read: () => value }
}

interface Reader {
  readonly tokens: readonly Token[]
  at: number
  depth: number
}

function takes(reader: Reader, ...signs: readonly string[]): string | undefined {
  const token = reader.tokens[reader.at]
  if (token?.kind !== 'sign' || !signs.includes(token.sign)) return undefined
  reader.at += 1
  return token.sign
}

function readOr(reader: Reader): Expression | undefined {
  let left = readAnd(reader)
  while (left && takes(reader, '||')) {
    const [one, other] = [left, readAnd(reader)]
    left = other && (async (at) => (await one(at)) || (await other(at)))
  }
  return left
}

function readAnd(reader: Reader): Expression | undefined {
  let left = readPart(reader)
  while (left && takes(reader, '&&')) {
    const [one, other] = [left, readPart(reader)]
    left = other && (async (at) => (await one(at)) && (await other(at)))
  }
  return left
}

function readPart(reader: Reader): Expression | undefined {
  reader.depth += 1
  if (reader.depth > DEEPEST) return undefined
  const found = readInner(reader)
  reader.depth -= 1
  return found
}

function readInner(reader: Reader): Expression | undefined {
  if (takes(reader, '!')) {
    const inner = readPart(reader)
    return inner && (async (at) => !(await inner(at)))
  }
  if (takes(reader, '(')) {
    const inner = readOr(reader)
    return takes(reader, ')') ? inner : undefined
  }
  return readComparison(reader)
}

function readComparison(reader: Reader): Expression | undefined {
  const left = readValue(reader)
  if (!left) return undefined
  const sign = takes(reader, '==', '!=', '=~', '!~')
  if (sign === undefined) return async ({ variables }) => isPresent(left(variables))
  const right = readValue(reader)
  if (!right) return undefined
  const isWanted = sign === '==' || sign === '=~'
  if (sign === '==' || sign === '!=') {
    return async ({ variables }) => (left(variables) === right(variables)) === isWanted
  }
  return async (at) =>
    (await matches(left(at.variables), right(at.variables), at.patterns)) === isWanted
}

function readValue(reader: Reader): Read | undefined {
  const token = reader.tokens[reader.at]
  if (token?.kind !== 'value') return undefined
  reader.at += 1
  return token.read
}

function isPresent(value: Operand): boolean {
  return value !== null && value !== ''
}

/** A variable may hold a pattern: text between slashes. A pattern that is none matches nothing. */
async function matches(left: Operand, right: Operand, patterns: PatternBudget): Promise<boolean> {
  if (typeof left !== 'string') return false
  const pattern = typeof right === 'string' ? betweenSlashes(right) : right
  return pattern ? await hasPattern(patterns, pattern, left) : false
}
