import type { Project } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { existing, invalidText, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { nextIid } from '../../store/iid.ts'
import type { StrategyName } from '../../store/schema/feature-flags.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import {
  countFlags,
  deleteScope,
  deleteStrategy,
  type FlagRow,
  findFlagById,
  insertFlag,
  insertScope,
  insertStrategy,
  listScopes,
  listStrategies,
  listUserListsById,
  type StrategyRow,
  updateFlag,
  updateScope,
  updateStrategy,
} from './queries.ts'
import { strategyFault } from './strategy-parameters.ts'

export interface ScopeInput {
  readonly id?: number | undefined
  readonly environment_scope?: string | undefined
  readonly _destroy?: boolean | undefined
}

export interface StrategyInput {
  readonly id?: number | undefined
  readonly name?: StrategyName | undefined
  readonly parameters?: Readonly<Record<string, string>> | undefined
  readonly user_list_id?: number | null | undefined
  readonly scopes?: readonly ScopeInput[] | undefined
  readonly _destroy?: boolean | undefined
}

export interface FlagInput {
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly active?: boolean | undefined
  readonly strategies?: readonly StrategyInput[] | undefined
}

const NAME = /^[a-z]([-_a-z0-9]*[a-z0-9])?$/
const MOST_FLAGS = 1000
const taken = {
  'feature_flags.project_id, feature_flags.name': () =>
    invalidText(['Name has already been taken']),
  'feature_flag_scopes.strategy_id, feature_flag_scopes.environment_scope': () =>
    invalidText(['Scopes environment scope has already been taken']),
}

function assertName(name: string): void {
  if (name.length <= 63 && NAME.test(name)) return
  throw invalidText([
    "Name can contain only lowercase letters, digits, '_' and '-'. Must start with a letter, and cannot end with '-' or '_'",
  ])
}

export async function createFlag(
  ctx: Ctx,
  project: Project,
  input: FlagInput & { readonly name: string },
): Promise<FlagRow> {
  assertName(input.name)
  return await uniquely(taken, () =>
    inTransaction(ctx, async (ctx) => {
      if ((await countFlags(ctx.db, project.id)) >= MOST_FLAGS) {
        throw invalidText([`Maximum number of feature flags (${MOST_FLAGS}) exceeded`])
      }
      const row = await insertFlag(ctx.db, {
        iid: await nextIid(ctx.db, project.id, 'feature_flag'),
        project_id: project.id,
        name: input.name,
        description: input.description ?? null,
        active: input.active ?? true,
        created_at: ctx.now(),
        updated_at: ctx.now(),
      })
      await saveStrategies(ctx, row, input.strategies ?? [])
      return row
    }),
  )
}

export async function changeFlag(ctx: Ctx, found: FlagRow, input: FlagInput): Promise<FlagRow> {
  if (input.name !== undefined) assertName(input.name)
  return await uniquely(taken, () =>
    inTransaction(ctx, async (ctx) => {
      // Read inside: of several who switch it at once, one did.
      const row = existing(await findFlagById(ctx.db, found.id))
      await saveStrategies(ctx, row, input.strategies ?? [])
      const changed = await updateFlag(ctx.db, row.id, {
        ...(input.name === undefined ? {} : { name: input.name }),
        ...(input.description === undefined ? {} : { description: input.description }),
        ...(input.active === undefined ? {} : { active: input.active }),
        updated_at: ctx.now(),
      })
      if (changed.active !== row.active) {
        await runEffects(ctx, ctx.effects.featureFlagSwitched, { row: changed })
      }
      return changed
    }),
  )
}

/** An `id` changes a strategy, `_destroy` removes it, and one without either is added. */
async function saveStrategies(
  ctx: Ctx,
  flag: FlagRow,
  inputs: readonly StrategyInput[],
): Promise<void> {
  const known = await listStrategies(ctx.db, [flag.id])
  for (const input of inputs) {
    const row = known.find((one) => one.id === input.id)
    if (input.id !== undefined && !row) throw notFound()
    if (!input._destroy) await saveStrategy(ctx, flag, row, input)
    else if (row) await deleteStrategy(ctx.db, row.id)
  }
}

async function saveStrategy(
  ctx: Ctx,
  flag: FlagRow,
  row: StrategyRow | undefined,
  input: StrategyInput,
): Promise<void> {
  const name = input.name ?? row?.name
  if (name === undefined) throw invalidText(['Strategies name is missing'])
  const before = row ? (JSON.parse(row.parameters) as Record<string, string>) : {} // written by us
  const parameters = input.parameters ?? before
  const wrong = strategyFault(name, parameters)
  if (wrong) throw invalidText([`Strategies ${wrong}`])
  const user_list_id = input.user_list_id === undefined ? row?.user_list_id : input.user_list_id
  await assertList(ctx, flag.project_id, name, user_list_id ?? null)
  const values = {
    name,
    parameters: JSON.stringify(parameters),
    user_list_id: user_list_id ?? null,
  }
  if (row) await updateStrategy(ctx.db, row.id, values)
  const id = row?.id ?? (await insertStrategy(ctx.db, { ...values, feature_flag_id: flag.id }))
  await saveScopes(ctx, id, input.scopes ?? [])
}

async function assertList(
  ctx: Ctx,
  projectId: number,
  strategy: StrategyName,
  listId: number | null,
): Promise<void> {
  if ((strategy === 'gitlabUserList') !== (listId !== null)) {
    throw invalidText(['Strategies user list is needed by gitlabUserList, and by nothing else'])
  }
  if (listId === null) return
  const found = await listUserListsById(ctx.db, projectId, [listId])
  if (found.length === 0)
    throw invalidText(['Strategies user list must belong to the same project'])
}

async function saveScopes(
  ctx: Ctx,
  strategyId: number,
  inputs: readonly ScopeInput[],
): Promise<void> {
  const known = await listScopes(ctx.db, [strategyId])
  for (const { id, environment_scope, _destroy } of inputs) {
    const isKnown = known.some((one) => one.id === id)
    if (id !== undefined && !isKnown) throw notFound()
    if (id === undefined) {
      if (!_destroy) await insertScope(ctx.db, strategyId, environment_scope ?? '*')
    } else if (_destroy) await deleteScope(ctx.db, id)
    else if (environment_scope !== undefined) await updateScope(ctx.db, id, environment_scope)
  }
}
