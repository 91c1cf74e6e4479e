import { Readable } from 'node:stream'
import { z } from 'zod'
import { sourceEntity } from '../../access/audit.ts'
import { onEither, type Source } from '../../access/sources.ts'
import { onInstance } from '../../access/subjects.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { bytes, endpoint, type KeysetSpec } from '../../http/endpoint.ts'
import { id, instant, oneOf } from '../../http/params.ts'
import { auditCsv } from './csv.ts'
import { type AuditEventRow, type AuditFilters, findAuditEvent, listAuditRows } from './queries.ts'

const auditEventEntity = z.strictObject({
  id: z.int(),
  author_id: z.int().nullable(),
  entity_id: z.int(),
  entity_type: z.string(),
  event_name: z.string(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  created_at: z.string(),
})

function presentAuditEvent(row: AuditEventRow): z.input<typeof auditEventEntity> {
  const details = JSON.parse(row.details) as Record<string, string | number | boolean | null> // written by `audit`
  return {
    id: row.id,
    author_id: row.author_id,
    entity_id: row.entity_id,
    entity_type: row.entity_type,
    event_name: row.action,
    details: { ...details, ip_address: row.ip },
    created_at: row.created_at,
  }
}

const paginate = {
  keyset: ['id'],
  defaultSort: 'desc',
  offset: true,
} as const satisfies KeysetSpec

const dates = { created_after: instant().optional(), created_before: instant().optional() }

async function list(ctx: Ctx, filters: AuditFilters, page: Parameters<typeof listAuditRows>[2]) {
  const rows = await listAuditRows(ctx.db, filters, page)
  return { ...rows, items: rows.items.map(presentAuditEvent) }
}

async function get(ctx: Ctx, eventId: number, filters: AuditFilters) {
  const row = existing(await findAuditEvent(ctx.db, eventId, filters), 'Audit Event')
  return presentAuditEvent(row)
}

const ofInstance = {
  ...dates,
  entity_type: oneOf(['User', 'Group', 'Project', 'Instance']).optional(),
  entity_id: id().optional(),
}

const lacksType = (sent: ReadonlySet<string>) =>
  sent.has('entity_id') && !sent.has('entity_type') ? ['entity_type is missing'] : []

export const listAuditEvents = endpoint({
  method: 'GET',
  path: '/audit_events',
  summary: 'List what was done in the instance',
  access: onInstance(),
  query: ofInstance,
  check: lacksType,
  paginate,
  response: z.array(auditEventEntity),
  handler: ({ ctx, query, page }) => list(ctx, query, page),
})

export const exportAuditEvents = endpoint({
  method: 'GET',
  path: '/audit_events/export',
  summary: 'Export what was done in the instance as CSV, the oldest first',
  access: onInstance(),
  query: ofInstance,
  check: lacksType,
  response: bytes('text/csv'),
  handler: ({ ctx, query }) => ({
    type: 'text/csv; charset=utf-8',
    headers: { 'Content-Disposition': 'attachment; filename="audit-events.csv"' },
    body: Readable.from(auditCsv(ctx, query), { objectMode: false }),
  }),
})

export const getAuditEvent = endpoint({
  method: 'GET',
  path: '/audit_events/:id',
  summary: 'Get something that was done in the instance',
  access: onInstance(),
  params: { id: id() },
  response: auditEventEntity,
  handler: ({ ctx, params }) => get(ctx, params.id, {}),
})

/** What a project or group is called in the log. */
function entityOf(source: Source) {
  const { type, id } = sourceEntity(source)
  return { entity_type: type, entity_id: id }
}

export const listSourceAuditEvents = endpoint({
  method: 'GET',
  path: '/:source/:id/audit_events',
  summary: 'List what was done to a project or group',
  access: onEither('read_audit_events', { signedIn: true }),
  query: dates,
  paginate,
  response: z.array(auditEventEntity),
  handler: ({ ctx, source, query, page }) => list(ctx, { ...query, ...entityOf(source) }, page),
})

export const getSourceAuditEvent = endpoint({
  method: 'GET',
  path: '/:source/:id/audit_events/:audit_event_id',
  summary: 'Get something that was done to a project or group',
  access: onEither('read_audit_events', { signedIn: true }),
  params: { audit_event_id: id() },
  response: auditEventEntity,
  handler: ({ ctx, source, params }) => get(ctx, params.audit_event_id, entityOf(source)),
})
