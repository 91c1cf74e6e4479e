import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { matchesPattern } from '../../base/name-pattern.ts'
import { PatternBudget } from '../../base/patterns/budget.ts'
import { PatternLimitError, PatternSyntaxError } from '../../base/patterns/pattern.ts'
import type { Ctx } from '../../ctx.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import type { Db } from '../../store/schema.ts'
import { deliverHook } from './deliver.ts'
import { type HookEvent, hookEvents, SYSTEM_EVENTS } from './hook-events.ts'
import { type HookRow, insertDelivery, listHooksCalled, listWantingHooks } from './queries.ts'
import { alertStatus } from './state.ts'

/** Where something happened: a project with its namespace, or a group alone; null is the instance. */
export type HookPlace = { readonly id: number | null; readonly namespace_id: number } | null

/** Hooks that one chain of events may call: who is called calls again, and so on. */
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
  isWanted: (hook: HookRow) => boolean = () => true,
): Promise<void> {
  // A receiver that calls us gets the events that follow from its call, but never in circles.
  const called = ctx.causedBy === undefined ? [] : await listHooksCalled(ctx.db, ctx.causedBy)
  const fresh = (hook: HookRow) => !called.includes(hook.id)
  const wanting = (await hooksFor(ctx, place, event)).filter(
    (hook) => fresh(hook) && isWanted(hook),
  )
  if (wanting.length === 0 || called.length >= MOST_IN_CHAIN) return
  const text = JSON.stringify(await payload())
  const eventUuid = (called.length > 0 ? ctx.causedBy : undefined) ?? randomUUID()
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

/** The event from which all follows, for tasks that fire hooks later. */
export const cause = { caused_by: z.string().optional() }

export function causeOf({ causedBy }: Pick<Ctx, 'causedBy'>): { caused_by?: string } {
  return causedBy === undefined ? {} : { caused_by: causedBy }
}

/** The same ctx, as a part of the chain of events of a task. */
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

async function hooksFor(ctx: Ctx, place: HookPlace, event: HookEvent): Promise<HookRow[]> {
  const hooks = await askHooks(ctx.db, place, event)
  // What happens while a hook is disabled is not delivered later: a receiver that is down would be flooded at its return.
  return hooks.filter((hook) => alertStatus(hook, ctx.now()) === 'executable')
}

function askHooks(db: Db, place: HookPlace, event: HookEvent): Promise<HookRow[]> {
  return listWantingHooks(db, {
    projectId: place?.id ?? null,
    namespaceId: place?.namespace_id ?? null,
    flag: hookEvents[event].flag,
    system: SYSTEM_EVENTS.has(event),
  })
}

/**
 * Which hooks want pushes to a branch: by pattern, by regular expression, or to all. Asked before the transaction, since regular
 * expressions may take a while; one that cannot be compared means no branch.
 */
export async function hooksOfBranch(
  ctx: Ctx,
  place: HookPlace,
  branch: string,
): Promise<(hook: HookRow) => boolean> {
  const patterns = new PatternBudget({ caller: `hooks of ${place?.id}` })
  const unwanted = new Map<number, string | null>()
  for (const hook of await hooksFor(ctx, place, 'push')) {
    if (await meansBranch(ctx, patterns, hook, branch)) continue
    unwanted.set(hook.id, hook.push_events_branch_filter)
  }
  return (hook) => unwanted.get(hook.id) !== hook.push_events_branch_filter
}

async function meansBranch(
  ctx: Ctx,
  patterns: PatternBudget,
  hook: HookRow,
  branch: string,
): Promise<boolean> {
  const filter = hook.push_events_branch_filter
  if (!filter || hook.branch_filter_strategy === 'all_branches') return true
  if (hook.branch_filter_strategy === 'wildcard') return matchesPattern(filter, branch)
  try {
    return await patterns.test({ source: filter }, branch)
  } catch (error) {
    if (error instanceof PatternSyntaxError) return false
    if (!(error instanceof PatternLimitError)) throw error
    ctx.log.warn('the branch filter of a webhook was not compared', {
      hook: hook.id,
      reason: error.limit,
    })
    return false
  }
}
