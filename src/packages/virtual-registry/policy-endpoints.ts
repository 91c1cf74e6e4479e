import type { z } from 'zod'
import { type Instant, later } from '../../base/clock.ts'
import { invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { flag, integer } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { onVirtualPolicy } from './access.ts'
import { policyEntity } from './entity.ts'
import {
  deletePolicy,
  findPolicy,
  insertPolicy,
  type PolicyValues,
  updatePolicy,
} from './queries.ts'

const path = '/groups/:id/-/virtual_registries/cleanup/policy'
const DAY_MS = 86_400_000
const CADENCES = [1, 7, 14, 30, 90]

const body = {
  enabled: flag().optional(),
  cadence: integer({ min: 1, max: 90 }).optional(),
  keep_n_days_after_download: integer({ min: 1, max: 365 }).optional(),
  notify_on_success: flag().optional(),
  notify_on_failure: flag().optional(),
}

type Given = {
  readonly [K in keyof Omit<PolicyValues, 'next_run_at'>]?: PolicyValues[K] | undefined
}

const DEFAULTS = {
  enabled: false,
  cadence: 7,
  keep_n_days_after_download: 30,
  notify_on_success: false,
  notify_on_failure: false,
  next_run_at: null,
}

/** The date stays where it is, unless the policy is switched on or its cadence changes. */
function valuesOf(given: Given, known: PolicyValues, now: Instant): PolicyValues {
  const sent = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const values = { ...known, ...sent }
  if (!CADENCES.includes(values.cadence))
    throw invalid({ cadence: ['is not included in the list'] })
  if (!values.enabled) return { ...values, next_run_at: null }
  const isKept = known.next_run_at !== null && values.cadence === known.cadence
  return isKept ? values : { ...values, next_run_at: later(now, values.cadence * DAY_MS) }
}

async function present(ctx: Ctx, groupId: number): Promise<z.input<typeof policyEntity>> {
  const row = await findPolicy(ctx.db, groupId)
  if (!row) throw notFound('Policy')
  const { group_id: _group, enabled, notify_on_success, notify_on_failure, ...rest } = row
  return {
    ...rest,
    enabled: enabled === 1,
    notify_on_success: notify_on_success === 1,
    notify_on_failure: notify_on_failure === 1,
  }
}

export const getVirtualPolicy = endpoint({
  method: 'GET',
  path,
  summary: 'Get the cache policy of the virtual registries of a group',
  access: onVirtualPolicy(),
  response: policyEntity,
  handler: ({ ctx, group }) => present(ctx, group.id),
})

export const createVirtualPolicy = endpoint({
  method: 'POST',
  path,
  summary: 'Create the cache policy of the virtual registries of a group',
  access: onVirtualPolicy(),
  body,
  response: policyEntity,
  status: 201,
  async handler({ ctx, group, body }) {
    await inTransaction(ctx, async ({ db, now }) => {
      if (await findPolicy(db, group.id)) throw invalid({ group: ['has already been taken'] })
      await insertPolicy(db, group.id, valuesOf(body, DEFAULTS, now()), now())
    })
    return new Answer(await present(ctx, group.id), { status: 201 })
  },
})

export const updateVirtualPolicy = endpoint({
  method: 'PATCH',
  path,
  summary: 'Update the cache policy of the virtual registries of a group',
  access: onVirtualPolicy(),
  body,
  response: policyEntity,
  async handler({ ctx, group, body }) {
    await inTransaction(ctx, (inner) => changePolicy(inner, group.id, body))
    return await present(ctx, group.id)
  },
})

async function changePolicy(ctx: Ctx, groupId: number, given: Given): Promise<void> {
  const known = await present(ctx, groupId)
  const { enabled, cadence, keep_n_days_after_download } = known
  const { notify_on_success, notify_on_failure, next_run_at } = known
  const now = {
    enabled,
    cadence,
    keep_n_days_after_download,
    notify_on_success,
    notify_on_failure,
    next_run_at,
  }
  await updatePolicy(ctx.db, groupId, valuesOf(given, now, ctx.now()), ctx.now())
}

export const deleteVirtualPolicy = endpoint({
  method: 'DELETE',
  path,
  summary: 'Delete the cache policy of the virtual registries of a group',
  access: onVirtualPolicy(),
  async handler({ ctx, group }) {
    if (!(await deletePolicy(ctx.db, group.id))) throw notFound('Policy')
  },
})
