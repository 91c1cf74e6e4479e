import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { byFlag, GROUP_FLAGS, PROJECT_FLAGS, SYSTEM_FLAGS } from './hook-events.ts'
import type { DeliveryRow, HookRow } from './queries.ts'
import { openSecrets } from './secrets.ts'
import { alertStatus } from './state.ts'

const key = z.strictObject({ key: z.string() })
const common = {
  id: z.int(),
  url: z.string(),
  name: z.string().nullable(),
  description: z.string().nullable(),
  created_at: z.string(),
  push_events_branch_filter: z.string().nullable(),
  branch_filter_strategy: z.string(),
  enable_ssl_verification: z.boolean(),
  alert_status: z.enum(['executable', 'temporarily_disabled', 'disabled']),
  disabled_until: z.string().nullable(),
  url_variables: z.array(key),
  custom_headers: z.array(key),
  custom_webhook_template: z.string().nullable(),
}

export const projectHookEntity = z.strictObject({
  ...common,
  ...byFlag(PROJECT_FLAGS, () => z.boolean()),
  project_id: z.int(),
})
export const groupHookEntity = z.strictObject({
  ...common,
  ...byFlag(GROUP_FLAGS, () => z.boolean()),
  group_id: z.int(),
})
export const systemHookEntity = z.strictObject({
  ...common,
  ...byFlag(SYSTEM_FLAGS, () => z.boolean()),
})

export function isOn(row: HookRow): (flag: string) => boolean {
  const on = new Set(JSON.parse(row.events) as string[]) // written by us as a list of flags
  return (flag) => on.has(flag)
}

function shown(ctx: Ctx, row: HookRow) {
  const secrets = openSecrets(ctx, row)
  return {
    id: row.id,
    url: secrets.url,
    name: row.name,
    description: row.description,
    created_at: row.created_at,
    push_events_branch_filter: row.push_events_branch_filter,
    branch_filter_strategy: row.branch_filter_strategy,
    enable_ssl_verification: row.enable_ssl_verification === 1,
    alert_status: alertStatus(row, ctx.now()),
    disabled_until: row.disabled_until,
    url_variables: secrets.variables.map((one) => ({ key: one.key })),
    custom_headers: secrets.headers.map((one) => ({ key: one.key })),
    custom_webhook_template: row.custom_webhook_template,
  }
}

/** Never with the token, the values of headers or of URL variables. */
export function presentProjectHook(ctx: Ctx, row: HookRow): z.input<typeof projectHookEntity> {
  const flags = byFlag(PROJECT_FLAGS, isOn(row))
  return { ...shown(ctx, row), ...flags, project_id: row.project_id ?? 0 }
}

export function presentGroupHook(ctx: Ctx, row: HookRow): z.input<typeof groupHookEntity> {
  const flags = byFlag(GROUP_FLAGS, isOn(row))
  return { ...shown(ctx, row), ...flags, group_id: row.group_id ?? 0 }
}

export function presentSystemHook(ctx: Ctx, row: HookRow): z.input<typeof systemHookEntity> {
  return { ...shown(ctx, row), ...byFlag(SYSTEM_FLAGS, isOn(row)) }
}

const texts = z.record(z.string(), z.string())

export const deliveryEntity = z.strictObject({
  id: z.int(),
  url: z.string(),
  trigger: z.string(),
  request_headers: texts,
  request_data: z.record(z.string(), z.unknown()),
  response_headers: texts,
  response_body: z.string(),
  execution_duration: z.number(),
  response_status: z.string(),
  created_at: z.string(),
})

/** One line of a hook's log; the URL with the names of its variables, not their values. */
export function presentDelivery(url: string, row: DeliveryRow): z.input<typeof deliveryEntity> {
  return {
    id: row.id,
    url,
    trigger: row.trigger,
    // Written by us as objects.
    request_headers: JSON.parse(row.request_headers) as Record<string, string>,
    request_data: JSON.parse(row.payload) as Record<string, unknown>,
    response_headers: JSON.parse(row.response_headers) as Record<string, string>,
    response_body: row.response_body ?? '',
    execution_duration: row.execution_duration ?? 0,
    response_status: row.response_status ?? '',
    created_at: row.created_at,
  }
}
