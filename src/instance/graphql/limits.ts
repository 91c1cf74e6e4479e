import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
} from 'graphql'

const MAX_DEPTH = 20
const MAX_FIELDS = 1000

interface Size {
  readonly depth: number
  readonly fields: number
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
