import type { Handle } from './handle.ts'

export type Change = 'insert' | 'update' | 'delete'

/** What a statement does to the table that it names. */
export interface Write {
  readonly table: string
  readonly changes: readonly Change[]
}

interface Trigger {
  readonly table: string
  readonly sql: string
}

interface ForeignKey {
  readonly child: string
  readonly parent: string
  readonly on_delete: string
  readonly on_update: string
}

const everyChange: readonly Change[] = ['insert', 'update', 'delete']

/** The write that begins a piece of SQL; undefined when it does not begin plainly with one. */
export function parseWrite(text: string): Write | undefined {
  const found =
    /^\s*(?:(insert|replace)(?:\s+or\s+(\w+))?\s+into|(update)(?:\s+or\s+(\w+))?|(delete)\s+from)\s+"?(\w+)"?[\s(;]/i.exec(
      `${text} `,
    )
  const table = found?.[6]?.toLowerCase()
  if (!found || !table) return undefined
  const verb = (found[1] ?? found[3] ?? found[5] ?? '').toLowerCase()
  const otherwise = (found[2] ?? found[4] ?? '').toLowerCase()
  if (verb === 'replace' || otherwise === 'replace') return { table, changes: everyChange }
  if (verb === 'delete') return { table, changes: ['delete'] }
  if (verb === 'update') return { table, changes: ['update'] }
  const isUpsert = /\bdo\s+update\b/i.test(text)
  return { table, changes: isUpsert ? ['insert', 'update'] : ['insert'] }
}

/** Which tables change when one does: by the triggers and the actions of foreign keys in the schema of a database. */
export class SchemaEffects {
  readonly tables: ReadonlySet<string>
  /** What follows at once, by change and table; `undefined` in it: a trigger that is not understood. */
  readonly #next = new Map<string, (Write | undefined)[]>()

  constructor({ database }: Handle) {
    const named = database.prepare<[], { name: string; type: string }>(
      "SELECT lower(name) AS name, type FROM sqlite_schema WHERE type IN ('table', 'view')",
    )
    const names = named.all()
    if (names.some(({ type }) => type === 'view')) throw new Error('what a view reads is unknown')
    this.tables = new Set(names.map(({ name }) => name))
    const triggers = database
      .prepare<[], Trigger>(
        'SELECT tbl_name AS "table", sql FROM sqlite_schema WHERE type = \'trigger\'',
      )
      .all()
    for (const trigger of triggers) this.#addTrigger(trigger)
    const keys = database
      .prepare<[], ForeignKey>(
        `SELECT m.name AS child, k."table" AS parent, k.on_delete, k.on_update
         FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) k WHERE m.type = 'table'`,
      )
      .all()
    for (const key of keys) this.#addForeignKey(key)
  }

  /** All tables that a write changes, itself among them; undefined when that is unknown. */
  of(write: Write): ReadonlySet<string> | undefined {
    const changed = new Set<string>()
    const seen = new Set<string>()
    const open: (Write | undefined)[] = [write]
    while (open.length > 0) {
      const one = open.pop()
      if (one === undefined) return undefined
      changed.add(one.table)
      for (const change of one.changes) {
        const key = `${change} ${one.table}`
        if (seen.has(key)) continue
        seen.add(key)
        open.push(...(this.#next.get(key) ?? []))
      }
    }
    return changed
  }

  #addTrigger({ table, sql }: Trigger): void {
    const head = /^(.*?)\bbegin\b(.*)\bend\s*$/is.exec(sql)
    const event = /\b(insert|update|delete)\b/i.exec(head?.[1] ?? '')?.[1]?.toLowerCase()
    const statements = (head?.[2] ?? '').split(';').filter((text) => text.trim() !== '')
    const writes = statements
      .filter((text) => !/^\s*select\b/i.test(text))
      .map((text) => parseWrite(text))
    for (const change of everyChange) {
      if (event === change || event === undefined)
        this.#add(change, table, event ? writes : [undefined])
    }
  }

  #addForeignKey({ child, parent, on_delete, on_update }: ForeignKey): void {
    if (on_delete === 'CASCADE')
      this.#add('delete', parent, [{ table: child, changes: ['delete'] }])
    else if (on_delete.startsWith('SET'))
      this.#add('delete', parent, [{ table: child, changes: ['update'] }])
    if (on_update === 'CASCADE' || on_update.startsWith('SET'))
      this.#add('update', parent, [{ table: child, changes: ['update'] }])
  }

  #add(change: Change, table: string, writes: readonly (Write | undefined)[]): void {
    const key = `${change} ${table.toLowerCase()}`
    this.#next.set(key, [...(this.#next.get(key) ?? []), ...writes])
  }
}
