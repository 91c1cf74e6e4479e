import { z } from 'zod'
import { task } from '../../background/task.ts'
import { type Instant, later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  countFailure,
  type DeliveryRow,
  deleteOldDeliveries,
  findDelivery,
  findHookById,
  type HookRow,
  insertDelivery,
  pauseHook,
  updateDelivery,
} from './queries.ts'
import { type Outcome, send } from './send.ts'
import { alertStatus, restUntil } from './state.ts'

/** How often one delivery is tried, and the pause after the first failure; it doubles. */
const tries = 4
const pauseMs = 10_000
const keptDays = 7
const dayMs = 86_400_000
/** Others wait for their turn to write while one batch is removed. */
const BATCH = 200

/** Sends one delivery, in a lane of its own: receivers that hang hold up nothing else. */
export const deliverHook = task({
  name: 'hooks.deliver',
  payload: z.object({ delivery_id: z.number().int() }),
  lane: 'outbound',
  timeout: 60_000,
  async handler(ctx: Ctx, { delivery_id }, signal) {
    const delivery = await findDelivery(ctx.db, delivery_id)
    const hook = delivery && (await findHookById(ctx.db, delivery.webhook_id))
    if (!delivery || !hook || delivery.state === 'done') return
    const status = alertStatus(hook, ctx.now())
    if (status === 'disabled') {
      await updateDelivery(ctx.db, delivery.id, { state: 'done' })
      return
    }
    if (status === 'temporarily_disabled') {
      await again(ctx, delivery.id, hook.disabled_until ?? ctx.now())
      return
    }
    const outcome = await send(ctx, hook, delivery, signal)
    await inTransaction(ctx, async (ctx) => {
      const attempts = delivery.attempts + 1
      const mayRetry = outcome.retry && attempts < tries
      await saveOutcome(ctx, delivery.id, outcome, { attempts, done: !mayRetry })
      const rest = await noteOutcome(ctx, hook, outcome.ok)
      if (!mayRetry) return
      const next = later(ctx.now(), pauseMs * 2 ** (attempts - 1))
      await again(ctx, delivery.id, rest !== undefined && rest > next ? rest : next)
    })
  },
})

type SentDelivery = Pick<
  DeliveryRow,
  'trigger' | 'header' | 'event_uuid' | 'idempotency_key' | 'payload'
>

async function again(ctx: Ctx, deliveryId: number, runAt: Instant): Promise<void> {
  await ctx.work.enqueue(ctx.db, deliverHook, { delivery_id: deliveryId }, { runAt })
}

async function saveOutcome(
  ctx: Ctx,
  deliveryId: number,
  outcome: Outcome,
  made: { readonly attempts: number; readonly done: boolean },
): Promise<void> {
  await updateDelivery(ctx.db, deliveryId, {
    state: made.done ? 'done' : 'waiting',
    attempts: made.attempts,
    request_headers: JSON.stringify(outcome.requestHeaders),
    response_status: outcome.status,
    response_headers: JSON.stringify(outcome.responseHeaders),
    response_body: outcome.body,
    execution_duration: outcome.seconds,
  })
}

/** Writes into the log what was sent at once, outside of tasks; nothing when the hook went meanwhile. */
export async function logDelivery(
  ctx: Ctx,
  hook: Pick<HookRow, 'id'>,
  delivery: SentDelivery,
  outcome: Outcome,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    if (!(await findHookById(ctx.db, hook.id))) return
    const { trigger, header, event_uuid, idempotency_key, payload } = delivery
    const sent = { trigger, header, event_uuid, idempotency_key, payload }
    const row = await insertDelivery(ctx.db, {
      webhook_id: hook.id,
      ...sent,
      created_at: ctx.now(),
    })
    await saveOutcome(ctx, row.id, outcome, { attempts: 1, done: true })
    await noteOutcome(ctx, hook, outcome.ok)
  })
}

/** Counts for or against the hook; gives until when it rests now. */
async function noteOutcome(
  ctx: Ctx,
  hook: Pick<HookRow, 'id'>,
  ok: boolean,
): Promise<Instant | undefined> {
  const failures = await countFailure(ctx.db, hook.id, !ok)
  const rest = restUntil(failures, ctx.now())
  if (rest !== undefined) await pauseHook(ctx.db, hook.id, rest)
  return rest
}

/** The log goes back seven days (docs/contract/D §1.25). */
export const forgetDeliveries = task({
  name: 'hooks.forget_deliveries',
  payload: z.object({}),
  async handler(ctx: Ctx, _, signal) {
    const before = logBegins(ctx.now())
    while (await deleteOldDeliveries(ctx.db, before, BATCH)) signal.throwIfAborted()
  },
})

/** What the log still shows at this moment. */
export function logBegins(now: Instant): Instant {
  return later(now, -keptDays * dayMs)
}
