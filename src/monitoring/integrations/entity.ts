import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { IntegrationRow } from './queries.ts'
import { openToken } from './token.ts'

const mappingEntity = z.strictObject({
  field_name: z.string(),
  path: z.array(z.union([z.string(), z.int()])),
  type: z.string(),
  label: z.string().nullable(),
})

/** An integration (docs/contract/C-resolved §1.1). */
export const integrationEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  type: z.enum(['http', 'prometheus']),
  active: z.boolean(),
  endpoint_identifier: z.string(),
  url: z.string(),
  token: z.string(),
  payload_example: z.record(z.string(), z.unknown()),
  payload_attribute_mappings: z.array(mappingEntity),
  created_at: z.string(),
  updated_at: z.string(),
})

type Integration = z.input<typeof integrationEntity>

export function presentIntegration(ctx: Ctx, project: Project, row: IntegrationRow): Integration {
  const slug = row.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  const path = `${project.full_path}/alerts/notify/${slug || 'alerts'}/${row.endpoint_identifier}`
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    active: row.active === 1,
    endpoint_identifier: row.endpoint_identifier,
    url: `${ctx.config.externalUrl}/${path}.json`,
    token: openToken(ctx, row),
    // Both written by us as JSON of this shape.
    payload_example: JSON.parse(row.payload_example) as Integration['payload_example'],
    payload_attribute_mappings: JSON.parse(
      row.payload_attribute_mappings,
    ) as Integration['payload_attribute_mappings'],
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
