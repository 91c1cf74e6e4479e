import type { Ctx } from '../../ctx.ts'
import { type AuditEventRow, type AuditFilters, listAuditAfter } from './queries.ts'

const atOnce = 1000
const columns = [
  'id',
  'created_at',
  'author_id',
  'author_name',
  'ip_address',
  'event_name',
  'entity_type',
  'entity_id',
  'details',
] as const

/** The audit trail as a table of RFC 4180, the oldest first, however long it is. */
export async function* auditCsv(
  { db }: Pick<Ctx, 'db'>,
  filters: AuditFilters,
): AsyncGenerator<string> {
  yield `${columns.join(',')}\r\n`
  for (let after = 0; ; ) {
    const rows = await listAuditAfter(db, filters, after, atOnce)
    if (rows.length > 0) yield rows.map(lineOf).join('')
    const last = rows.at(-1)
    if (!last || rows.length < atOnce) return
    after = last.id
  }
}

function lineOf(row: AuditEventRow): string {
  const details = JSON.parse(row.details) as Record<string, unknown> // written by `audit`
  const { author_name, ...rest } = details
  const cells: Record<(typeof columns)[number], unknown> = {
    id: row.id,
    created_at: row.created_at,
    author_id: row.author_id,
    author_name,
    ip_address: row.ip,
    event_name: row.action,
    entity_type: row.entity_type,
    entity_id: row.entity_id,
    details: JSON.stringify(rest),
  }
  return `${columns.map((name) => cell(cells[name])).join(',')}\r\n`
}

function cell(value: unknown): string {
  const text = String(value ?? '')
  // Spreadsheets run what begins like this.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
