import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import { onProject } from '../../access/subjects.ts'
import { Problem, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { malformed, parseJsonObject } from '../../http/body/json.ts'
import { type Endpoint, endpoint, perMinute, type RequestFacts } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { onIntegration } from '../integrations/access.ts'
import { jsonObject } from '../integrations/params.ts'
import type { ReceivingIntegration } from '../integrations/queries.ts'
import type { Payload } from './alert-input.ts'
import { ingestAlerts } from './ingest.ts'
import { integrationKey, MAX_PAYLOAD, tooLargePayload } from './integration-key.ts'
import { isMetrics } from './metrics.ts'
import { payloadFields } from './payload-fields.ts'

const tags = ['alerts']

/** What a delivery answers: the alerts that it made, counted up or resolved. */
const acceptedEntity = z.array(z.strictObject({ iid: z.int(), title: z.string() }))

interface Delivered {
  readonly ctx: Ctx
  readonly project: Project
  readonly integration: ReceivingIntegration
  readonly request: RequestFacts
}

async function receive({ ctx, project, integration, request }: Delivered) {
  return await ingestAlerts(ctx, project, integration, await readDelivery(ctx, request))
}

/** As `receive`, where the address says the format. */
async function receiveMetrics({ ctx, project, integration, request }: Delivered) {
  const payload = await readDelivery(ctx, request)
  if (!isMetrics(payload)) throw unprocessable('422 Unprocessable Entity')
  return await ingestAlerts(ctx, project, integration, payload)
}

async function readDelivery(ctx: Ctx, request: RequestFacts): Promise<Payload> {
  try {
    const bytes = await request.payload()
    if (bytes.length === 0) throw malformed()
    return await parseJsonObject(bytes, ctx.config)
  } catch (error) {
    throw error instanceof Problem && error.status === 413 ? tooLargePayload() : error
  }
}

const delivery = {
  method: 'POST',
  status: 200,
  host: true,
  ownSignIn: true,
  raw: true,
  maxBody: MAX_PAYLOAD,
  tags,
  response: acceptedEntity,
} as const

const project_path = text({ max: 1000 })

export const notifyAlert = endpoint({
  ...delivery,
  path: '/*project_path/alerts/notify/:slug/:identifier.json',
  summary: 'Take alerts of a monitoring tool in, at the address of an integration',
  access: integrationKey('identifier'),
  params: { project_path, slug: text({ max: 1000 }), identifier: text({ max: 100 }) },
  handler: receive,
})

export const notifyAlertAtOldUrl = endpoint({
  ...delivery,
  path: '/*project_path/alerts/notify.json',
  summary: 'Take alerts in the generic format in, at the fixed address of a project',
  access: integrationKey('http'),
  params: { project_path },
  handler: receive,
})

export const notifyPrometheusAlert = endpoint({
  ...delivery,
  path: '/*project_path/prometheus/alerts/notify.json',
  summary: 'Take alerts in the metrics format in, at the fixed address of a project',
  access: integrationKey('prometheus'),
  params: { project_path },
  handler: receiveMetrics,
})

/** The deliveries, which are served below the path of their project. */
export const hostAlertEndpoints: readonly Endpoint[] = [
  notifyAlert,
  notifyAlertAtOldUrl,
  notifyPrometheusAlert,
]

export const testIntegration = endpoint({
  method: 'POST',
  path: '/projects/:id/alert_management/http_integrations/:integration_id/test',
  summary: 'Send an alert as the monitoring tool of an integration would',
  tags: ['alert integrations'],
  access: onIntegration('test_alert_integrations'),
  raw: true,
  maxBody: MAX_PAYLOAD,
  status: 200,
  response: acceptedEntity,
  handler: receive,
})

const fieldEntity = z.strictObject({
  path: z.array(z.union([z.string(), z.int()])),
  label: z.string(),
  type: z.enum(['array', 'datetime', 'string', 'number']),
})

export const listPayloadFields = endpoint({
  method: 'POST',
  path: '/projects/:id/alert_management/payload_fields',
  summary: 'List the fields of a payload that fields of an alert can be read from',
  tags: ['alert integrations'],
  access: onProject('admin_operations'),
  body: { payload: jsonObject() },
  limit: perMinute('payload_fields', 60),
  status: 200,
  response: z.array(fieldEntity),
  handler: ({ body }) => payloadFields(body.payload),
})
