import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  Lexer,
  type SelectionSetNode,
  Source,
  TokenKind,
} from 'graphql'

export const MAX_TOKENS = 5000
const MAX_LEVELS = 200
const MAX_DEPTH = 20
const MAX_FIELDS = 1000

interface Size {
  readonly depth: number
  readonly fields: number
}

const opening: readonly string[] = [TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]
const closing: readonly string[] = [TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]

/**
 * Refuses brackets in brackets before the query is parsed: the parser calls itself for each, and where the stack is full, V8
 * may end the process. Throws what is wrong with the tokens.
 */
export function nestingErrors(query: string): GraphQLError[] {
  const lexer = new Lexer(new Source(query))
  let level = 0
  for (let count = 0; count < MAX_TOKENS; count += 1) {
    const { kind } = lexer.advance()
    if (kind === TokenKind.EOF) break
    if (opening.includes(kind)) level += 1
    else if (closing.includes(kind)) level -= 1
    if (level > MAX_LEVELS) return [new GraphQLError('Query has too many brackets in each other')]
  }
  return []
}

/**
 * What is too large about a query: how deep it goes and how many fields it asks for, fragments counted wherever they
 * are used. For documents that were validated: those have no fragments in circles.
 */
export function sizeErrors(document: DocumentNode): GraphQLError[] {
  const sizes = new Map<string, Size>()
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const one of document.definitions) {
    if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one)
  }

  function ofFragment(name: string): Size {
    const known = sizes.get(name)
    if (known) return known
    const fragment = fragments.get(name)
    const size = fragment ? ofSelections(fragment.selectionSet) : { depth: 0, fields: 0 }
    sizes.set(name, size)
    return size
  }

  function ofSelections(set: SelectionSetNode | undefined): Size {
    let depth = 0
    let fields = 0
    for (const one of set?.selections ?? []) {
      const isField = one.kind === Kind.FIELD
      const inner =
        one.kind === Kind.FRAGMENT_SPREAD
          ? ofFragment(one.name.value)
          : ofSelections(one.selectionSet)
      depth = Math.max(depth, inner.depth + (isField ? 1 : 0))
      fields += inner.fields + (isField ? 1 : 0)
    }
    return { depth, fields }
  }

  return document.definitions.flatMap((one) => {
    if (one.kind !== Kind.OPERATION_DEFINITION) return []
    const { depth, fields } = ofSelections(one.selectionSet)
    if (depth > MAX_DEPTH) {
      return [
        new GraphQLError(`Query has depth of ${depth}, which exceeds max depth of ${MAX_DEPTH}`),
      ]
    }
    if (fields > MAX_FIELDS) {
      return [
        new GraphQLError(
          `Query has complexity of ${fields}, which exceeds max complexity of ${MAX_FIELDS}`,
        ),
      ]
    }
    return []
  })
}
