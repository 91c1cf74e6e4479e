import { randomUUID } from 'node:crypto'
import { RE2JS, RE2JSSyntaxException } from 're2js'
import { z } from 'zod'
import { matchesPattern } from '../../base/name-pattern.ts'
import type { Ctx } from '../../ctx.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import type { Db } from '../../store/schema.ts'
import { deliverHook } from './deliver.ts'
import { type HookEvent, hookEvents, SYSTEM_EVENTS } from './hook-events.ts'
import { type HookRow, insertDelivery, listHooksTold, listWantingHooks } from './queries.ts'
import { alertStatus } from './state.ts'

/** Where something happened: a project with its namespace, or a group alone; null is the instance. */
export type HookPlace = { readonly id: number | null; readonly namespace_id: number } | null

/** Hooks that hear of one chain of events: who is called calls again, and so on. */
const MOST_IN_CHAIN = 100

/** The payload of a webhook: an object of plain JSON values. */
export type HookPayload = Readonly<Record<string, unknown>>

/**
 * Notifies the hooks of a project, of the groups above it and of the instance: writes what is to be delivered in the caller's transaction, when any hook wants it. The payload is made only then; no git or network in it.
 */
export async function fireHooks(
  ctx: Ctx,
  place: HookPlace,
  event: HookEvent,
  payload: () => HookPayload | Promise<HookPayload>,
  branch?: string,
): Promise<void> {
  // A receiver that calls us is told of what follows from that, but never in circles.
  const told = ctx.causedBy === undefined ? [] : await listHooksTold(ctx.db, ctx.causedBy)
  const fresh = (hook: HookRow) => !told.includes(hook.id)
  const wanting = (await hooksFor(ctx, place, event, branch)).filter(fresh)
  if (wanting.length === 0 || told.length >= MOST_IN_CHAIN) return
  const text = JSON.stringify(await payload())
  const eventUuid = (told.length > 0 ? ctx.causedBy : undefined) ?? randomUUID()
  for (const hook of wanting) {
    const { id } = await insertDelivery(ctx.db, {
      webhook_id: hook.id,
      trigger: hookEvents[event].flag ?? 'system',
      header: hook.kind === 'system' ? 'System Hook' : hookEvents[event].header,
      event_uuid: eventUuid,
      idempotency_key: randomUUID(),
      payload: text,
      created_at: ctx.now(),
    })
    await ctx.work.enqueue(ctx.db, deliverHook, { delivery_id: id })
  }
}

/** What tasks that fire hooks later are told of the event that all follows from. */
export const cause = { caused_by: z.string().optional() }

export function causeOf({ causedBy }: Pick<Ctx, 'causedBy'>): { caused_by?: string } {
  return causedBy === undefined ? {} : { caused_by: causedBy }
}

/** The same ctx, as a part of the chain of events that a task was told of. */
export function because(
  ctx: Ctx,
  { caused_by: causedBy }: { caused_by?: string | undefined },
): Ctx {
  return causedBy === undefined ? ctx : { ...ctx, causedBy }
}

/** Whether anybody listens, for payloads that cost something to make. */
export async function wantsHooks(ctx: Ctx, place: HookPlace, event: HookEvent): Promise<boolean> {
  const key = `hooks of ${place?.id} in ${place?.namespace_id} for ${event}`
  const wanting = await cachedQuery(ctx.db, key, (db) => askHooks(db, place, event))
  return wanting.some((hook) => alertStatus(hook, ctx.now()) === 'executable')
}

async function hooksFor(
  ctx: Ctx,
  place: HookPlace,
  event: HookEvent,
  branch: string | undefined,
): Promise<HookRow[]> {
  const hooks = await askHooks(ctx.db, place, event)
  return hooks.filter(
    (hook) =>
      // What happens while a hook is disabled is not delivered later: a receiver that is down would be flooded at its return.
      alertStatus(hook, ctx.now()) === 'executable' &&
      (branch === undefined || meansBranch(hook, branch)),
  )
}

function askHooks(db: Db, place: HookPlace, event: HookEvent): Promise<HookRow[]> {
  return listWantingHooks(db, {
    projectId: place?.id ?? null,
    namespaceId: place?.namespace_id ?? null,
    flag: hookEvents[event].flag,
    system: SYSTEM_EVENTS.has(event),
  })
}

/** Whether a hook wants events of this branch: by pattern, by regular expression, or of all. */
function meansBranch(hook: HookRow, branch: string): boolean {
  const filter = hook.push_events_branch_filter
  if (!filter || hook.branch_filter_strategy === 'all_branches') return true
  if (hook.branch_filter_strategy === 'wildcard') return matchesPattern(filter, branch)
  try {
    return RE2JS.compile(filter).matcher(branch).find()
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return false
    throw error
  }
}
