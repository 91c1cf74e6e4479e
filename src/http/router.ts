import type { Endpoint, Method } from './endpoint.ts'

/**
 * An endpoint that fits a path, with its decoded parameters; or the methods that the path knows instead, and whether any
 * declaration has a segment of it written out: one like `/*path` takes every path.
 */
export type Match =
  | { readonly kind: 'found'; readonly endpoint: Endpoint; readonly path: Record<string, string> }
  | { readonly kind: 'no_method'; readonly allow: readonly string[]; readonly isWritten: boolean }
  | { readonly kind: 'no_route' }

interface Leaf {
  readonly names: readonly string[]
  readonly endpoint: Endpoint
}

interface Found {
  readonly node: Node
  readonly values: string[]
  /** How many segments are written out in the declaration. */
  readonly fixed: number
}

class Node {
  readonly literals = new Map<string, Node>()
  readonly prefixed: { prefix: string; node: Node }[] = []
  readonly suffixed: { suffix: string; node: Node }[] = []
  parameter: Node | undefined
  rest: Node | undefined
  readonly leaves = new Map<Method, Leaf>()
}

/**
 * Finds endpoints by the raw, still encoded path: one segment is one parameter, `%2F` and all (docs/contract/A §Shared
 * conventions 1). Literal segments win over `fixed.:name`, those over `:name.fixed`, those over `:name`, those over `*rest`,
 * which a literal segment may follow: `*module/@v/list`. No path of a project or group holds the segment `-`: where it follows
 * `*rest`, the rest ends at the first one. A declaration without any literal segment is asked only where no other fits, whatever
 * the method: reading `/api/graphql` is no page of a group `api`.
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
    collect({ node: this.root, values, fixed: 0 }, segments, 0, nodes)
    const isWritten = nodes.some((found) => found.fixed > 0)
    const meant = nodes.filter((found) => found.fixed > 0 || !isWritten)
    for (const found of meant) {
      const leaf = leafFor(found.node, method)
      if (!leaf) continue
      const path = decodeAll(leaf.names, found.values)
      return path ? { kind: 'found', endpoint: leaf.endpoint, path } : { kind: 'no_route' }
    }
    if (nodes.length === 0) return { kind: 'no_route' }
    return { kind: 'no_method', allow: allowed(meant.map((found) => found.node)), isWritten }
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
  const [, name = '', suffix] = /^(\w+)(\.\w+)?$/.exec(segment.slice(colon + 1)) ?? []
  names.push(name)
  if (suffix !== undefined) {
    const known = node.suffixed.find((one) => one.suffix === suffix)
    if (known) return known.node
    const next = new Node()
    node.suffixed.push({ suffix, node: next })
    return next
  }
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

function collect(from: Found, segments: readonly string[], at: number, found: Found[]): void {
  const { node, values, fixed } = from
  const segment = segments[at]
  if (segment === undefined) {
    if (node.leaves.size > 0) found.push(from)
    return
  }
  const literal = node.literals.get(segment)
  if (literal) collect({ node: literal, values, fixed: fixed + 1 }, segments, at + 1, found)
  for (const [next, value] of taking(node, segment)) {
    collect({ node: next, values: [...values, value], fixed }, segments, at + 1, found)
  }
  if (node.rest) collectRest({ node: node.rest, values, fixed }, segments, at, found)
}

/** The nodes that take a segment as a value, in their order, with that value. */
function taking(node: Node, segment: string): (readonly [Node, string])[] {
  const prefixed = node.prefixed
    .filter(({ prefix }) => segment.length > prefix.length && segment.startsWith(prefix))
    .map(({ prefix, node }) => [node, segment.slice(prefix.length)] as const)
  const suffixed = node.suffixed
    .filter(({ suffix }) => segment.length > suffix.length && segment.endsWith(suffix))
    .map(({ suffix, node }) => [node, segment.slice(0, -suffix.length)] as const)
  const whole = node.parameter && segment !== '' ? [[node.parameter, segment] as const] : []
  return [...prefixed, ...suffixed, ...whole]
}

/**
 * What may follow `*rest` wins over `*rest` alone: that with most written-out segments first, and the rest then takes as much as
 * it can, but ends at the first `-`.
 */
function collectRest(from: Found, segments: readonly string[], at: number, found: Found[]): void {
  const { node: rest, values } = from
  const taken = (end: number) => ({
    ...from,
    values: [...values, segments.slice(at, end).join('/')],
  })
  const followed: Found[] = []
  const dash = rest.literals.has('-') ? segments.indexOf('-', at + 1) : -1
  if (dash > 0) collect(taken(dash), segments, dash, followed)
  if (followed.length === 0 && rest.literals.size > 0) {
    for (let end = segments.length - 1; end > at; end--) {
      const next = segments[end] ?? ''
      if (next !== '-' && rest.literals.has(next)) collect(taken(end), segments, end, followed)
    }
  }
  found.push(...followed.sort((one, other) => other.fixed - one.fixed))
  if (rest.leaves.size > 0) found.push(taken(segments.length))
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
