import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { audit, sourceEntity } from '../../access/audit.ts'
import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import { assertPatterns } from '../../base/patterns/check.ts'
import { existing, invalid, notFound, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { HookKind } from '../../store/schema/hooks.ts'
import { inTransaction } from '../../store/transaction.ts'
import { isOn } from './entity.ts'
import { GROUP_FLAGS, type HookFlag, PROJECT_FLAGS, SYSTEM_FLAGS } from './hook-events.ts'
import type { hookFields } from './params.ts'
import {
  countHooks,
  deleteHook,
  findHook,
  type HookOwner,
  type HookRow,
  insertHook,
  updateHook,
} from './queries.ts'
import { reachOf } from './reach.ts'
import { openSecrets, sealPairs, sealToken, sealUrl } from './secrets.ts'
import { fillUrl, type Pair } from './template.ts'

export type HookInput = z.infer<z.ZodObject<typeof hookFields>> &
  Readonly<Partial<Record<HookFlag, boolean | undefined>>> & { readonly url?: string | undefined }

const flagsOf = { project: PROJECT_FLAGS, group: GROUP_FLAGS, system: SYSTEM_FLAGS } as const
const defaults: Readonly<Record<HookOwner['type'], readonly HookFlag[]>> = {
  project: ['push_events'],
  group: ['push_events'],
  system: ['repository_update_events'],
}
const most = { project: 100, group: 50, system: 100 } as const
const mostPairs = 20

/** Headers that belong to the connection or to us. */
const ownHeaders =
  /^(host|connection|content-length|content-type|transfer-encoding|upgrade|te|trailer|expect|keep-alive|user-agent|idempotency-key|proxy-.*)$/i

/** What node sends as the value of a header: tabs and what can be seen in Latin-1, no line ends. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

export async function getHook(ctx: Ctx, owner: HookOwner, id: number): Promise<HookRow> {
  return existing(await findHook(ctx.db, owner, id))
}

/** 422 for an address that may not be asked (docs/contract/D §1.25). */
async function assertUrl(
  ctx: Ctx,
  kind: HookKind,
  url: string,
  variables: readonly Pair[],
): Promise<void> {
  try {
    await ctx.outbound.assertMayAsk(fillUrl(url, variables), reachOf(ctx, kind))
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw new Problem('unprocessable', 422, { error: `Invalid url given: ${error.message}` })
  }
}

function assertPairs(ctx: Ctx, input: HookInput): void {
  const { custom_headers: headers = [], url_variables: variables = [] } = input
  if (!headerValue.test(input.token ?? '')) throw invalid({ token: ['is invalid'] })
  const isToken = (one: Pair) =>
    /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,255}$/.test(one.key) && headerValue.test(one.value)
  const badHeader = headers.some(
    (one) => !isToken(one) || ownHeaders.test(one.key) || isVendorHeader(ctx, one.key),
  )
  if (badHeader || headers.length > mostPairs) throw invalid({ custom_headers: ['is invalid'] })
  const badVariable = variables.some((one) => !/^[A-Za-z][A-Za-z0-9_]{0,254}$/.test(one.key))
  if (badVariable || variables.length > mostPairs) throw invalid({ url_variables: ['is invalid'] })
}

/** 400 for a filter of branches that is no regular expression, or too large a one. */
function assertFilter(input: HookInput, row?: HookRow): void {
  const strategy = input.branch_filter_strategy ?? row?.branch_filter_strategy
  const isChanged =
    input.branch_filter_strategy !== undefined || input.push_events_branch_filter !== undefined
  if (strategy !== 'regex' || !isChanged) return
  const { push_events_branch_filter: filter = row?.push_events_branch_filter } = input
  assertPatterns({ push_events_branch_filter: filter })
}

/** Pairs by key: the last of a name holds. */
function once(pairs: readonly Pair[]): Pair[] {
  return [...new Map(pairs.map((one) => [one.key, one])).values()]
}

function plainValues(input: HookInput) {
  const filter = input.push_events_branch_filter
  return {
    name: input.name,
    description: input.description,
    enable_ssl_verification: input.enable_ssl_verification,
    push_events_branch_filter: filter === '' ? null : filter,
    branch_filter_strategy: input.branch_filter_strategy,
    custom_webhook_template: input.custom_webhook_template,
  }
}

function secretValues(ctx: Ctx, input: HookInput) {
  const { url, token, custom_headers: headers, url_variables: variables } = input
  return {
    ...(url === undefined ? {} : { sealed_url: sealUrl(ctx, url) }),
    ...(token === undefined ? {} : { sealed_token: sealToken(ctx, token) }),
    ...(headers === undefined ? {} : { sealed_headers: sealPairs(ctx, 'headers', once(headers)) }),
    ...(variables === undefined
      ? {}
      : { sealed_variables: sealPairs(ctx, 'variables', once(variables)) }),
  }
}

function eventsText(
  owner: HookOwner,
  input: HookInput,
  before: (flag: HookFlag) => boolean,
): string {
  const names: readonly HookFlag[] = flagsOf[owner.type]
  return JSON.stringify(names.filter((flag) => input[flag] ?? before(flag)))
}

function isVendorHeader(ctx: Ctx, name: string): boolean {
  const prefixes = ctx.config.vendor.headerNames('')
  return prefixes.some((prefix) => name.toLowerCase().startsWith(prefix.toLowerCase()))
}

export async function createHook(
  ctx: Ctx,
  owner: HookOwner,
  input: HookInput & { readonly url: string },
): Promise<HookRow> {
  assertPairs(ctx, input)
  assertFilter(input)
  await assertUrl(ctx, owner.type, input.url, input.url_variables ?? [])
  return await inTransaction(ctx, async (ctx) => {
    if ((await countHooks(ctx.db, owner)) >= most[owner.type]) {
      throw invalid({
        base: [`Maximum number of ${owner.type} hooks (${most[owner.type]}) exceeded`],
      })
    }
    const row = await insertHook(ctx.db, {
      kind: owner.type,
      project_id: owner.type === 'project' ? owner.id : null,
      group_id: owner.type === 'group' ? owner.id : null,
      uuid: randomUUID(),
      ...plainValues(input),
      ...secretValues(ctx, input),
      sealed_url: sealUrl(ctx, input.url),
      events: eventsText(owner, input, (flag) => defaults[owner.type].includes(flag)),
      created_at: ctx.now(),
      updated_at: ctx.now(),
    })
    await note(ctx, owner, 'hook_created', row.id)
    return row
  })
}

/** Changes what was given. A hook that was given up gets another chance. */
export async function changeHook(
  ctx: Ctx,
  owner: HookOwner,
  row: HookRow,
  input: HookInput,
): Promise<HookRow> {
  await assertFits(ctx, row, input)
  return await inTransaction(ctx, async (ctx) =>
    saveChange(ctx, owner, await getHook(ctx, owner, row.id), input),
  )
}

async function assertFits(ctx: Ctx, row: HookRow, given: HookInput): Promise<void> {
  const input = withForgotten(ctx, row, given)
  assertPairs(ctx, input)
  assertFilter(input, row)
  if (input.url === undefined && input.url_variables === undefined) return
  const known = openSecrets(ctx, row)
  await assertUrl(ctx, row.kind, input.url ?? known.url, input.url_variables ?? known.variables)
}

/**
 * Secrets go to the server that they were given for: where another is to be asked, those that are not given anew are
 * forgotten. Nobody is shown them, so nobody may have them sent to an address of their own either.
 */
function withForgotten(ctx: Ctx, row: HookRow, input: HookInput): HookInput {
  const known = openSecrets(ctx, row)
  const { url = known.url, url_variables: variables = known.variables } = input
  if (originOf(url, variables) === originOf(known.url, known.variables)) return input
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  return { token: null, custom_headers: [], url_variables: [], ...Object.fromEntries(given) }
}

function originOf(url: string, variables: readonly Pair[]): string {
  const filled = fillUrl(url, variables)
  return URL.canParse(filled) ? new URL(filled).origin : ''
}

async function saveChange(
  ctx: Ctx,
  owner: HookOwner,
  row: HookRow,
  given: HookInput,
): Promise<HookRow> {
  const input = withForgotten(ctx, row, given)
  const changed = await updateHook(ctx.db, row.id, {
    ...plainValues(input),
    ...secretValues(ctx, input),
    events: eventsText(owner, input, isOn(row)),
    failures: 0,
    disabled_until: null,
    updated_at: ctx.now(),
  })
  await note(ctx, owner, 'hook_changed', row.id)
  return changed
}

export async function removeHook(ctx: Ctx, owner: HookOwner, row: HookRow): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await deleteHook(ctx.db, row.id)
    await note(ctx, owner, 'hook_deleted', row.id)
  })
}

interface PairChange {
  readonly kind: 'custom_headers' | 'url_variables'
  readonly key: string
  readonly value: string | undefined
}

/** Sets or removes one header or URL variable; 404 for one to remove that is not there. */
export async function changePair(
  ctx: Ctx,
  owner: HookOwner,
  row: HookRow,
  change: PairChange,
): Promise<void> {
  await assertFits(ctx, row, withPair(ctx, row, change))
  await inTransaction(ctx, async (ctx) => {
    // Others may have changed another pair, or removed the hook, while its address was looked up.
    const now = await getHook(ctx, owner, row.id)
    await saveChange(ctx, owner, now, withPair(ctx, now, change))
  })
}

/** All pairs of a kind after the change. */
function withPair(ctx: Ctx, row: HookRow, change: PairChange): HookInput {
  const secrets = openSecrets(ctx, row)
  const known = change.kind === 'custom_headers' ? secrets.headers : secrets.variables
  const others = known.filter((one) => one.key !== change.key)
  if (change.value === undefined && others.length === known.length) throw notFound()
  const changed = change.value === undefined ? [] : [{ key: change.key, value: change.value }]
  const pairs = [...others, ...changed]
  const moves =
    change.kind === 'url_variables' &&
    originOf(secrets.url, pairs) !== originOf(secrets.url, secrets.variables)
  return { [change.kind]: moves ? changed : pairs }
}

async function note(ctx: Ctx, owner: HookOwner, action: string, hookId: number): Promise<void> {
  const entity =
    owner.type === 'system' ? ({ type: 'Instance', id: 0 } as const) : sourceEntity(owner)
  await audit(ctx, { entity, action, details: { hook_id: hookId } })
}
