import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { unprocessable } from '../../base/problem.ts'
import { type Endpoint, endpoint, perMinute } from '../../http/endpoint.ts'
import { csv, text } from '../../http/params.ts'
import { onDelivery, onHook } from './access.ts'
import { logBegins, logDelivery } from './deliver.ts'
import { deliveryEntity, presentDelivery } from './entity.ts'
import { listDeliveryRows } from './queries.ts'
import { openSecrets } from './secrets.ts'
import { send } from './send.ts'
import { changePair } from './verbs.ts'

const tags = ['webhooks']
const pairParams = { key: text({ max: 255 }) }

const words: Readonly<Record<string, string>> = {
  successful: '2',
  client_failure: '4',
  server_failure: '5',
}

/** `200`, `successful`, `client_failure`, `server_failure`; what is none of these finds nothing. */
function statusesOf(given: readonly string[] | undefined): readonly string[] | undefined {
  return given?.map((one) => words[one] ?? (/^\d{3}$/.test(one) ? one : 'none'))
}

export const listDeliveries = endpoint({
  method: 'GET',
  path: '/:source/:id/hooks/:hook_id/events',
  summary: 'List what was sent to a webhook of a project or group in the last seven days',
  access: onHook(),
  query: { status: csv(text({ max: 50 }), { max: 20 }).optional() },
  paginate: 'offset',
  response: z.array(deliveryEntity),
  async handler({ ctx, hook, query, page }) {
    const { url } = openSecrets(ctx, hook)
    const filter = { since: logBegins(ctx.now()), statuses: statusesOf(query.status) }
    const rows = await listDeliveryRows(ctx.db, hook.id, filter, page)
    return { ...rows, items: rows.items.map((row) => presentDelivery(url, row)) }
  },
})

/** Sends again what was sent once, and waits for the answer. */
export const resendDelivery = endpoint({
  method: 'POST',
  path: '/:source/:id/hooks/:hook_id/events/:hook_event_id/resend',
  summary: 'Send something to a webhook of a project or group once more',
  access: onDelivery(),
  limit: perMinute('web_hook_event_resend', 5, 'caller_and_subject'),
  response: z.strictObject({ response_status: z.int() }),
  async handler({ ctx, hook, delivery, request }) {
    const fresh = { ...delivery, idempotency_key: randomUUID() }
    const outcome = await send(ctx, hook, fresh, request.signal)
    await logDelivery(ctx, hook, fresh, outcome)
    if (outcome.status === 'internal error') throw unprocessable(outcome.body)
    return { response_status: Number(outcome.status) }
  },
})

/** Headers and URL variables of a hook, one at a time; their values are never shown. */
function pairEndpoints(kind: 'custom_headers' | 'url_variables', what: string): Endpoint[] {
  const common = {
    tags,
    access: onHook(),
    path: `/:source/:id/hooks/:hook_id/${kind}/:key`,
    params: pairParams,
  } as const
  return [
    endpoint({
      ...common,
      method: 'PUT',
      summary: `Set ${what} of a webhook of a project or group`,
      body: { value: text({ max: 2048 }) },
      handler: ({ ctx, source, hook, params: { key }, body: { value } }) =>
        changePair(ctx, source, hook, { kind, key, value }),
    }),
    endpoint({
      ...common,
      method: 'DELETE',
      summary: `Remove ${what} from a webhook of a project or group`,
      handler: ({ ctx, source, hook, params: { key } }) =>
        changePair(ctx, source, hook, { kind, key, value: undefined }),
    }),
  ]
}

export const customHeaders = pairEndpoints('custom_headers', 'a header')
export const urlVariables = pairEndpoints('url_variables', 'a part of the address')
