import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Group, onGroup, onProject, type Project } from '../../access/subjects.ts'
import type { OffsetPage } from '../../base/page.ts'
import { notFound, unprocessable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Endpoint, endpoint, perMinute } from '../../http/endpoint.ts'
import { csv, id, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { logBegins, noteOutcome, saveOutcome } from './deliver.ts'
import { deliveryEntity, presentDelivery } from './entity.ts'
import { hookId } from './params.ts'
import { findDelivery, type HookOwner, insertDelivery, listDeliveryRows } from './queries.ts'
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
  await inTransaction(ctx, async (ctx) => {
    const { id } = await insertDelivery(ctx.db, {
      webhook_id: hook.id,
      trigger: old.trigger,
      header: old.header,
      event_uuid: old.event_uuid,
      idempotency_key: fresh.idempotency_key,
      payload: old.payload,
      created_at: ctx.now(),
    })
    await saveOutcome(ctx, id, outcome, { attempts: 1, done: true })
    await noteOutcome(ctx, hook, outcome.ok)
  })
  if (outcome.status === 'internal error') throw unprocessable(outcome.body)
  return { response_status: Number(outcome.status) }
}

const resendLimit = perMinute('web_hook_event_resend', 5, 'caller_and_subject')
const resent = z.strictObject({ response_status: z.int() })
const logQuery = { status: csv(text({ max: 50 }), { max: 20 }).optional() }
const eventParams = { ...hookId, hook_event_id: id() }
const pairParams = { ...hookId, key }

/** The log and the secret pairs of hooks, for projects and groups alike. */
const projectAccess = onProject('admin_hooks')
const groupAccess = onGroup('admin_hooks')
const ofProject = (given: { project: Project }): HookOwner => ({
  kind: 'project',
  id: given.project.id,
})
const ofGroup = (given: { group: Group }): HookOwner => ({ kind: 'group', id: given.group.id })

export const hookLogs: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/hooks/:hook_id/events',
    summary: 'List what was sent to a webhook in the last seven days',
    tags,
    access: projectAccess,
    params: hookId,
    query: logQuery,
    paginate: 'offset',
    response: z.array(deliveryEntity),
    handler: ({ ctx, project, params, query, page }) =>
      list(ctx, ofProject({ project }), { hookId: params.hook_id, status: query.status }, page),
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/hooks/:hook_id/events/:hook_event_id/resend',
    summary: 'Send something to a webhook once more',
    tags,
    access: projectAccess,
    params: eventParams,
    limit: resendLimit,
    response: resent,
    status: 201,
    handler: ({ ctx, project, params, request }) =>
      resend(
        ctx,
        ofProject({ project }),
        { hookId: params.hook_id, eventId: params.hook_event_id },
        request.signal,
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/groups/:id/hooks/:hook_id/events',
    summary: 'List what was sent to a webhook of a group in the last seven days',
    tags,
    access: groupAccess,
    params: hookId,
    query: logQuery,
    paginate: 'offset',
    response: z.array(deliveryEntity),
    handler: ({ ctx, group, params, query, page }) =>
      list(ctx, ofGroup({ group }), { hookId: params.hook_id, status: query.status }, page),
  }),
  endpoint({
    method: 'POST',
    path: '/groups/:id/hooks/:hook_id/events/:hook_event_id/resend',
    summary: 'Send something to a webhook of a group once more',
    tags,
    access: groupAccess,
    params: eventParams,
    limit: resendLimit,
    response: resent,
    status: 201,
    handler: ({ ctx, group, params, request }) =>
      resend(
        ctx,
        ofGroup({ group }),
        { hookId: params.hook_id, eventId: params.hook_event_id },
        request.signal,
      ),
  }),
]

/** Headers and URL variables of a hook, one at a time; their values are never shown. */
function pairEndpoints(kind: 'custom_headers' | 'url_variables', what: string): Endpoint[] {
  const body = { value: text({ max: 2048 }) }
  const change = async (ctx: Ctx, owner: HookOwner, hook: number, name: string, value?: string) => {
    const row = await getHook(ctx, owner, hook)
    await changePair(ctx, owner, row, { kind, key: name, value })
  }
  return [
    endpoint({
      method: 'PUT',
      path: `/projects/:id/hooks/:hook_id/${kind}/:key`,
      summary: `Set ${what} of a webhook`,
      tags,
      access: projectAccess,
      params: pairParams,
      body,
      handler: ({ ctx, project, params, body }) =>
        change(ctx, ofProject({ project }), params.hook_id, params.key, body.value),
    }),
    endpoint({
      method: 'DELETE',
      path: `/projects/:id/hooks/:hook_id/${kind}/:key`,
      summary: `Remove ${what} from a webhook`,
      tags,
      access: projectAccess,
      params: pairParams,
      handler: ({ ctx, project, params }) =>
        change(ctx, ofProject({ project }), params.hook_id, params.key),
    }),
    endpoint({
      method: 'PUT',
      path: `/groups/:id/hooks/:hook_id/${kind}/:key`,
      summary: `Set ${what} of a webhook of a group`,
      tags,
      access: groupAccess,
      params: pairParams,
      body,
      handler: ({ ctx, group, params, body }) =>
        change(ctx, ofGroup({ group }), params.hook_id, params.key, body.value),
    }),
    endpoint({
      method: 'DELETE',
      path: `/groups/:id/hooks/:hook_id/${kind}/:key`,
      summary: `Remove ${what} from a webhook of a group`,
      tags,
      access: groupAccess,
      params: pairParams,
      handler: ({ ctx, group, params }) =>
        change(ctx, ofGroup({ group }), params.hook_id, params.key),
    }),
  ]
}

export const hookPairs: readonly Endpoint[] = [
  ...pairEndpoints('custom_headers', 'a header'),
  ...pairEndpoints('url_variables', 'a part of the address'),
]
