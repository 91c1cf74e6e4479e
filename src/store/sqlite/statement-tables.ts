import {
  type CompiledQuery,
  DeleteQueryNode,
  InsertQueryNode,
  type OperationNode,
  RawNode,
  TableNode,
  UpdateQueryNode,
} from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Handle } from './handle.ts'
import { type Change, parseWrite, SchemaEffects, type Write } from './schema-effects.ts'

/**
 * The tables that statements read and write, by their syntax trees. A piece of raw SQL reads every table that its text
 * names; what a raw statement writes is known when it begins plainly (`update tasks …`), and is any table otherwise.
 */
export class StatementTables {
  readonly #handle: Handle
  /** By SQL text, as many as are kept prepared. */
  readonly #reads = new LRUCache<string, ReadonlySet<string>>({ max: 500 })
  readonly #writes = new LRUCache<string, { readonly tables: ReadonlySet<string> | undefined }>({
    max: 500,
  })
  #schema: SchemaEffects | undefined

  constructor(handle: Handle) {
    this.#handle = handle
  }

  /** The tables that a statement reads. */
  reads({ sql, query }: CompiledQuery): ReadonlySet<string> {
    const known = this.#reads.get(sql)
    if (known) return known
    const tables = tablesIn(query, this.#effects.tables)
    this.#reads.set(sql, tables)
    return tables
  }

  /** The tables that a statement changes, by triggers and foreign keys, too; undefined: any. */
  writes({ sql, query }: CompiledQuery): ReadonlySet<string> | undefined {
    const known = this.#writes.get(sql)
    if (known) return known.tables
    const write = writeOf(query)
    const tables = write && this.#effects.of(write)
    this.#writes.set(sql, { tables })
    return tables
  }

  // Read when first needed: after the migrations, from where on it stays as it is.
  get #effects(): SchemaEffects {
    this.#schema ??= new SchemaEffects(this.#handle)
    return this.#schema
  }
}

function tablesIn(query: OperationNode, tables: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>()
  for (const node of nodesOf(query)) {
    if (TableNode.is(node)) found.add(node.table.identifier.name)
    if (!RawNode.is(node)) continue
    const text = [...node.sqlFragments, ...namesIn(node.parameters)].join(' ')
    for (const [word] of text.matchAll(/\w+/g)) found.add(word.toLowerCase())
  }
  return new Set([...found].filter((name) => tables.has(name)))
}

/** `sql.id` puts a name into raw SQL. */
function namesIn(nodes: readonly OperationNode[]): string[] {
  return nodes.flatMap((node) => ('name' in node ? [String(node.name)] : []))
}

function* nodesOf(node: OperationNode): Generator<OperationNode> {
  yield node
  for (const value of Object.values(node).flat()) if (isNode(value)) yield* nodesOf(value)
}

function isNode(value: unknown): value is OperationNode {
  return typeof value === 'object' && value !== null && 'kind' in value
}

function writeOf(query: OperationNode): Write | undefined {
  if (RawNode.is(query)) return parseWrite(query.sqlFragments.join('?'))
  const table = targetOf(query)
  return table === undefined ? undefined : { table, changes: changesOf(query) }
}

function targetOf(query: OperationNode): string | undefined {
  const place = InsertQueryNode.is(query)
    ? query.into
    : UpdateQueryNode.is(query)
      ? query.table
      : DeleteQueryNode.is(query)
        ? query.from
        : undefined
  for (const node of place ? nodesOf(place) : []) {
    if (TableNode.is(node)) return node.table.identifier.name
  }
  return undefined
}

function changesOf(query: OperationNode): Change[] {
  if (DeleteQueryNode.is(query)) return ['delete']
  if (UpdateQueryNode.is(query)) return ['update']
  if (!InsertQueryNode.is(query)) return []
  const action = query.replace ? 'replace' : query.orAction?.action
  if (action === 'replace') return ['insert', 'update', 'delete']
  return query.onConflict ? ['insert', 'update'] : ['insert']
}
