import type { Handle } from './handle.ts'

/** The tables that a statement reads and writes; undefined where SQLite's plan does not tell. */
export interface Touched {
  readonly reads: ReadonlySet<string> | undefined
  readonly writes: ReadonlySet<string> | undefined
}

interface Step {
  readonly opcode: string
  readonly p1: number
  readonly p2: number
  readonly p3: number
}

interface Trees {
  /** The table of each b-tree of the main database, its indexes included. */
  readonly tables: ReadonlyMap<number, string>
  readonly hasVirtual: boolean
}

const TEMPORARY = 1

const known = new WeakMap<object, Touched>()

/**
 * What a statement touches by SQLite's own plan for it, so that triggers and the actions of foreign keys are among it,
 * and so are tables of which only an index is read. Worked out once for as long as the statement is kept prepared.
 */
export function touchedBy(handle: Handle, sql: string, parameters: readonly unknown[]): Touched {
  const statement = handle.prepare(sql)
  const found = known.get(statement) ?? inspect(handle, sql, parameters)
  known.set(statement, found)
  return found
}

function inspect(handle: Handle, sql: string, parameters: readonly unknown[]): Touched {
  const steps = handle.database
    .prepare<unknown[], Step>(`EXPLAIN ${sql}`)
    .all(...parameters)
    .filter((step) => step.p3 !== TEMPORARY || step.opcode === 'Clear')
  const trees = treesOf(handle)
  const reads = new Set<string | undefined>()
  const writes = new Set<string | undefined>()
  for (const { opcode, p1, p2 } of steps) {
    if (opcode === 'OpenRead' || opcode === 'ReopenIdx') reads.add(trees.tables.get(p2))
    if (opcode === 'OpenWrite') writes.add(trees.tables.get(p2))
    if (opcode === 'Clear') writes.add(trees.tables.get(p1))
    if (opcode === 'VOpen' && trees.hasVirtual) reads.add(undefined)
    if (opcode === 'VUpdate' || opcode === 'Destroy' || opcode === 'ParseSchema')
      writes.add(undefined)
  }
  return { reads: allKnown(reads), writes: allKnown(writes) }
}

function allKnown(names: ReadonlySet<string | undefined>): ReadonlySet<string> | undefined {
  const known = new Set<string>()
  for (const name of names) {
    if (name === undefined) return undefined
    known.add(name)
  }
  return known
}

const kept = new WeakMap<Handle, { readonly version: unknown; readonly trees: Trees }>()

function treesOf(handle: Handle): Trees {
  const version: unknown = handle.database.pragma('schema_version', { simple: true })
  const current = kept.get(handle)
  if (current && current.version === version) return current.trees
  const rows = handle.database
    .prepare<[], { type: string; tbl_name: string; rootpage: number | null }>(
      'SELECT type, tbl_name, rootpage FROM sqlite_schema',
    )
    .all()
  const trees = {
    // The first page holds the schema itself.
    tables: new Map([
      [1, 'sqlite_schema'],
      ...rows.filter((row) => row.rootpage).map((row) => [row.rootpage, row.tbl_name] as const),
    ] as [number, string][]),
    hasVirtual: rows.some((row) => row.type === 'table' && !row.rootpage),
  }
  kept.set(handle, { version, trees })
  return trees
}
