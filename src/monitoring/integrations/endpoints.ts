import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, flag, oneOf } from '../../http/params.ts'
import { onIntegration } from './access.ts'
import { integrationEntity, presentIntegration } from './entity.ts'
import { exampleText, jsonObject, mappingList } from './params.ts'
import {
  deleteIntegration,
  insertIntegration,
  listIntegrations,
  updateIntegration,
} from './queries.ts'
import { newToken } from './token.ts'

const path = '/projects/:id/alert_management/http_integrations'
const types = ['http', 'prometheus'] as const

const fields = {
  payload_example: jsonObject().optional(),
  payload_attribute_mappings: mappingList().optional(),
}

function jsonOf(body: {
  payload_example?: Record<string, unknown> | undefined
  payload_attribute_mappings?: readonly unknown[] | undefined
}) {
  const { payload_example: example, payload_attribute_mappings: mappings } = body
  return {
    ...(example === undefined ? {} : { payload_example: exampleText(example) }),
    ...(mappings === undefined ? {} : { payload_attribute_mappings: JSON.stringify(mappings) }),
  }
}

export const getIntegrations = endpoint({
  method: 'GET',
  path,
  summary: 'List the alert integrations of a project',
  access: onProject('admin_operations'),
  query: { type: oneOf(types).optional(), active: flag().optional() },
  paginate: 'offset',
  response: z.array(integrationEntity),
  async handler({ ctx, project, query, page }) {
    const rows = await listIntegrations(ctx.db, project.id, query, page)
    return { ...rows, items: rows.items.map((row) => presentIntegration(ctx, project, row)) }
  },
})

export const createIntegration = endpoint({
  method: 'POST',
  path,
  summary: 'Let a monitoring tool send alerts',
  access: onProject('admin_operations'),
  body: {
    name: filledText({ max: 255 }),
    active: flag(),
    type: oneOf(types).optional(),
    ...fields,
  },
  response: integrationEntity,
  status: 201,
  async handler({ ctx, project, body }) {
    const row = await insertIntegration(ctx.db, {
      project_id: project.id,
      name: body.name,
      type: body.type ?? 'http',
      active: body.active,
      endpoint_identifier: randomBytes(8).toString('hex'),
      sealed_token: newToken(ctx),
      ...jsonOf(body),
      created_at: ctx.now(),
      updated_at: ctx.now(),
    })
    return presentIntegration(ctx, project, row)
  },
})

export const getIntegration = endpoint({
  method: 'GET',
  path: `${path}/:integration_id`,
  summary: 'Get an alert integration',
  access: onIntegration('admin_operations'),
  response: integrationEntity,
  handler: ({ ctx, project, integration }) => presentIntegration(ctx, project, integration),
})

export const changeIntegration = endpoint({
  method: 'PUT',
  path: `${path}/:integration_id`,
  summary: 'Change an alert integration',
  access: onIntegration('admin_operations'),
  body: { name: filledText({ max: 255 }).optional(), active: flag().optional(), ...fields },
  response: integrationEntity,
  async handler({ ctx, project, integration, body }) {
    const { name, active } = body
    const row = await updateIntegration(ctx.db, integration.id, {
      ...(name === undefined ? {} : { name }),
      ...(active === undefined ? {} : { active }),
      ...jsonOf(body),
      updated_at: ctx.now(),
    })
    return presentIntegration(ctx, project, row)
  },
})

export const resetIntegrationToken = endpoint({
  method: 'POST',
  path: `${path}/:integration_id/reset_token`,
  summary: 'Reset the key of an alert integration; the old one stops working at once',
  access: onIntegration('admin_operations'),
  status: 200,
  response: integrationEntity,
  async handler({ ctx, project, integration }) {
    const changes = { sealed_token: newToken(ctx), updated_at: ctx.now() }
    return presentIntegration(
      ctx,
      project,
      await updateIntegration(ctx.db, integration.id, changes),
    )
  },
})

export const removeIntegration = endpoint({
  method: 'DELETE',
  path: `${path}/:integration_id`,
  summary: 'Remove an alert integration',
  access: onIntegration('admin_operations'),
  handler: ({ ctx, integration }) => deleteIntegration(ctx.db, integration.id),
})
