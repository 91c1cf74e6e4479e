import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { onKindOfSource, type SourceKind } from '../../access/sources.ts'
import type { Access } from '../../access/subjects.ts'
import type { OffsetPage } from '../../base/page.ts'
import { notFound, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Endpoint, endpoint, perMinute } from '../../http/endpoint.ts'
import { csv, id, text } from '../../http/params.ts'
import { logBegins, logDelivery } from './deliver.ts'
import { deliveryEntity, presentDelivery } from './entity.ts'
import { hookId } from './params.ts'
import { findDelivery, type HookOwner, listDeliveryRows } from './queries.ts'
import { openSecrets } from './secrets.ts'
import { send } from './send.ts'
import { changePair, getHook } from './verbs.ts'

const tags = ['webhooks']
const key = text({ max: 255 })

const words: Readonly<Record<string, string>> = {
  successful: '2',
  client_failure: '4',
  server_failure: '5',
}

/** `200`, `successful`, `client_failure`, `server_failure`; what is none of these finds nothing. */
function statusesOf(given: readonly string[] | undefined): readonly string[] | undefined {
  return given?.map((one) => words[one] ?? (/^\d{3}$/.test(one) ? one : 'none'))
}

async function list(
  ctx: Ctx,
  owner: HookOwner,
  asked: { readonly hookId: number; readonly status: readonly string[] | undefined },
  page: OffsetPage,
) {
  const hook = await getHook(ctx, owner, asked.hookId)
  const { url } = openSecrets(ctx, hook)
  const filter = { since: logBegins(ctx.now()), statuses: statusesOf(asked.status) }
  const rows = await listDeliveryRows(ctx.db, hook.id, filter, page)
  return { ...rows, items: rows.items.map((row) => presentDelivery(url, row)) }
}

/** Sends again what was sent once, and waits for the answer. */
async function resend(
  ctx: Ctx,
  owner: HookOwner,
  asked: { readonly hookId: number; readonly eventId: number },
  signal: AbortSignal,
) {
  const hook = await getHook(ctx, owner, asked.hookId)
  const old = await findDelivery(ctx.db, asked.eventId)
  if (old?.webhook_id !== hook.id) throw notFound()
  const fresh = { ...old, idempotency_key: randomUUID() }
  const outcome = await send(ctx, hook, fresh, signal)
  await logDelivery(ctx, hook, fresh, outcome)
  if (outcome.status === 'internal error') throw unprocessable(outcome.body)
  return { response_status: Number(outcome.status) }
}

const resendLimit = perMinute('web_hook_event_resend', 5, 'caller_and_subject')
const resent = z.strictObject({ response_status: z.int() })
const logQuery = { status: csv(text({ max: 50 }), { max: 20 }).optional() }
const eventParams = { ...hookId, hook_event_id: id() }
const pairParams = { ...hookId, key }

const ownerWord = { projects: '', groups: ' of a group' } as const

/** The project or group that a hook belongs to, as the routes of both need it. */
function onOwner(kind: SourceKind): Access<{ source: HookOwner }> {
  return onKindOfSource<HookOwner>(kind, 'admin_hooks', {
    project: ({ id }) => ({ kind: 'project', id }),
    group: ({ id }) => ({ kind: 'group', id }),
  })
}

function logEndpoints(kind: SourceKind): Endpoint[] {
  const common = { tags, access: onOwner(kind) }
  return [
    endpoint({
      ...common,
      method: 'GET',
      path: `/${kind}/:id/hooks/:hook_id/events`,
      summary: `List what was sent to a webhook${ownerWord[kind]} in the last seven days`,
      params: hookId,
      query: logQuery,
      paginate: 'offset',
      response: z.array(deliveryEntity),
      handler: ({ ctx, source, params, query, page }) =>
        list(ctx, source, { hookId: params.hook_id, status: query.status }, page),
    }),
    endpoint({
      ...common,
      method: 'POST',
      path: `/${kind}/:id/hooks/:hook_id/events/:hook_event_id/resend`,
      summary: `Send something to a webhook${ownerWord[kind]} once more`,
      params: eventParams,
      limit: resendLimit,
      response: resent,
      status: 201,
      handler: ({ ctx, source, params, request }) => {
        const asked = { hookId: params.hook_id, eventId: params.hook_event_id }
        return resend(ctx, source, asked, request.signal)
      },
    }),
  ]
}

/** Headers and URL variables of a hook, one at a time; their values are never shown. */
function pairEndpoints(
  kind: SourceKind,
  pair: 'custom_headers' | 'url_variables',
  what: string,
): Endpoint[] {
  const common = {
    tags,
    access: onOwner(kind),
    path: `/${kind}/:id/hooks/:hook_id/${pair}/:key`,
    params: pairParams,
  } as const
  const change = (ctx: Ctx, owner: HookOwner, hook: number, key: string, value?: string) =>
    changePair(ctx, owner, hook, { kind: pair, key, value })
  return [
    endpoint({
      ...common,
      method: 'PUT',
      summary: `Set ${what} of a webhook${ownerWord[kind]}`,
      body: { value: text({ max: 2048 }) },
      handler: ({ ctx, source, params, body }) =>
        change(ctx, source, params.hook_id, params.key, body.value),
    }),
    endpoint({
      ...common,
      method: 'DELETE',
      summary: `Remove ${what} from a webhook${ownerWord[kind]}`,
      handler: ({ ctx, source, params }) => change(ctx, source, params.hook_id, params.key),
    }),
  ]
}

/** The log and the secret pairs of hooks, for projects and groups alike. */
export const hookLogs: readonly Endpoint[] = (['projects', 'groups'] as const).flatMap((kind) => [
  ...logEndpoints(kind),
  ...pairEndpoints(kind, 'custom_headers', 'a header'),
  ...pairEndpoints(kind, 'url_variables', 'a part of the address'),
])
