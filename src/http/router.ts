import type { Endpoint, Method } from './endpoint.ts'

/** An endpoint that fits a path, with its decoded parameters; or the methods that the path knows instead. */
export type Match =
  | { readonly kind: 'found'; readonly endpoint: Endpoint; readonly path: Record<string, string> }
  | { readonly kind: 'no_method'; readonly allow: readonly string[] }
  | { readonly kind: 'no_route' }

interface Leaf {
  readonly names: readonly string[]
  readonly endpoint: Endpoint
}

interface Found {
  readonly node: Node
  readonly values: string[]
}

class Node {
  readonly literals = new Map<string, Node>()
  readonly prefixed: { prefix: string; node: Node }[] = []
  parameter: Node | undefined
  rest: Node | undefined
  readonly leaves = new Map<Method, Leaf>()
}

/**
 * Finds endpoints by the raw, still encoded path: one segment is one parameter, `%2F` and all (docs/contract/A §Shared
 * conventions 1). Literal segments win over `fixed.:name`, those over `:name`, those over `*rest`,
 * which a literal segment may follow: `*module/@v/list`.
 */
export class Router {
  private readonly root = new Node()

  constructor(endpoints: readonly Endpoint[]) {
    for (const endpoint of endpoints) {
      this.add(endpoint, endpoint.path)
      if (endpoint.otherPath !== undefined) this.add(endpoint, endpoint.otherPath)
    }
  }

  private add(endpoint: Endpoint, path: string): void {
    const names: string[] = []
    let node = this.root
    for (const segment of path.split('/').slice(1)) node = step(node, segment, names)
    if (node.leaves.has(endpoint.method)) {
      throw new Error(`two endpoints at ${endpoint.method} ${path}`)
    }
    node.leaves.set(endpoint.method, { names, endpoint })
  }

  /** `rawPath` begins with `/` and has no query. HEAD is answered by GET's endpoint unless it has its own. */
  find(method: string, rawPath: string): Match {
    const segments = rawPath.split('/').slice(1)
    const values: string[] = []
    const nodes: Found[] = []
    collect(this.root, segments, 0, values, nodes)
    for (const found of nodes) {
      const leaf = leafFor(found.node, method)
      if (!leaf) continue
      const path = decodeAll(leaf.names, found.values)
      return path ? { kind: 'found', endpoint: leaf.endpoint, path } : { kind: 'no_route' }
    }
    if (nodes.length === 0) return { kind: 'no_route' }
    return { kind: 'no_method', allow: allowed(nodes.map((found) => found.node)) }
  }
}

function step(node: Node, segment: string, names: string[]): Node {
  if (segment.startsWith('*')) {
    names.push(segment.slice(1))
    node.rest ??= new Node()
    return node.rest
  }
  const colon = segment.indexOf(':')
  if (colon < 0) {
    const next = node.literals.get(segment) ?? new Node()
    node.literals.set(segment, next)
    return next
  }
  names.push(segment.slice(colon + 1))
  if (colon === 0) {
    node.parameter ??= new Node()
    return node.parameter
  }
  const prefix = segment.slice(0, colon)
  const known = node.prefixed.find((one) => one.prefix === prefix)
  if (known) return known.node
  const next = new Node()
  node.prefixed.push({ prefix, node: next })
  return next
}

function collect(
  node: Node,
  segments: readonly string[],
  at: number,
  values: readonly string[],
  found: Found[],
): void {
  const segment = segments[at]
  if (segment === undefined) {
    if (node.leaves.size > 0) found.push({ node, values: [...values] })
    return
  }
  const literal = node.literals.get(segment)
  if (literal) collect(literal, segments, at + 1, values, found)
  for (const { prefix, node: next } of node.prefixed) {
    if (segment.length > prefix.length && segment.startsWith(prefix)) {
      collect(next, segments, at + 1, [...values, segment.slice(prefix.length)], found)
    }
  }
  if (node.parameter && segment !== '')
    collect(node.parameter, segments, at + 1, [...values, segment], found)
  if (node.rest) collectRest(node.rest, segments, at, values, found)
}

/** What may follow `*rest` wins over `*rest` alone, and the rest then takes as much as it can. */
function collectRest(
  rest: Node,
  segments: readonly string[],
  at: number,
  values: readonly string[],
  found: Found[],
): void {
  const taken = (end: number) => [...values, segments.slice(at, end).join('/')]
  if (rest.literals.size > 0) {
    for (let end = segments.length - 1; end > at; end--) {
      if (rest.literals.has(segments[end] ?? '')) collect(rest, segments, end, taken(end), found)
    }
  }
  if (rest.leaves.size > 0) found.push({ node: rest, values: taken(segments.length) })
}

function leafFor(node: Node, method: string): Leaf | undefined {
  const leaf = node.leaves.get(method as Method) // an unknown word finds nothing
  return leaf ?? (method === 'HEAD' ? node.leaves.get('GET') : undefined)
}

function decodeAll(
  names: readonly string[],
  values: readonly string[],
): Record<string, string> | null {
  const path: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    try {
      const value = decodeURIComponent(values[index] ?? '')
      if (value.includes('\0')) return null
      path[name] = value
    } catch {
      return null
    }
  }
  return path
}

function allowed(nodes: readonly Node[]): string[] {
  const methods = new Set<string>()
  for (const node of nodes) for (const method of node.leaves.keys()) methods.add(method)
  if (methods.has('GET')) methods.add('HEAD')
  methods.add('OPTIONS')
  return [...methods].sort()
}
