import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import {
  type FlagRow,
  listScopes,
  listStrategies,
  listUserListsById,
  type ScopeRow,
  type StrategyRow,
  type UserListRow,
} from './queries.ts'

const listBasic = { id: z.int(), iid: z.int(), name: z.string(), user_xids: z.string() }

export const userListEntity = z.strictObject({
  ...listBasic,
  project_id: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
})

const strategyEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  parameters: z.record(z.string(), z.string()),
  scopes: z.array(z.strictObject({ id: z.int(), environment_scope: z.string() })),
  user_list: z.strictObject(listBasic).nullable(),
})

/** A feature flag (docs/contract/D §1.2, rows of P3). */
export const flagEntity = z.strictObject({
  name: z.string(),
  description: z.string().nullable(),
  active: z.boolean(),
  version: z.literal('new_version_flag'),
  created_at: z.string(),
  updated_at: z.string(),
  scopes: z.array(z.never()),
  strategies: z.array(strategyEntity),
})

export function presentUserList(row: UserListRow): z.input<typeof userListEntity> {
  const { id, iid, project_id, name, user_xids, created_at, updated_at } = row
  return { id, iid, project_id, name, user_xids, created_at, updated_at }
}

export async function presentFlags(
  ctx: Pick<Ctx, 'db'>,
  projectId: number,
  rows: readonly FlagRow[],
): Promise<z.input<typeof flagEntity>[]> {
  const strategies = await listStrategies(
    ctx.db,
    rows.map((row) => row.id),
  )
  const scopes = await listScopes(
    ctx.db,
    strategies.map((one) => one.id),
  )
  const lists = await listUserListsById(
    ctx.db,
    projectId,
    strategies.flatMap((one) => one.user_list_id ?? []),
  )
  return rows.map((row) => ({
    name: row.name,
    description: row.description,
    active: row.active === 1,
    version: 'new_version_flag',
    created_at: row.created_at,
    updated_at: row.updated_at,
    scopes: [],
    strategies: strategies
      .filter((one) => one.feature_flag_id === row.id)
      .map((one) => presentStrategy(one, scopes, lists)),
  }))
}

function presentStrategy(
  row: StrategyRow,
  scopes: readonly ScopeRow[],
  lists: readonly UserListRow[],
): z.input<typeof strategyEntity> {
  const list = lists.find((one) => one.id === row.user_list_id)
  return {
    id: row.id,
    name: row.name,
    parameters: JSON.parse(row.parameters) as Record<string, string>, // written by us
    scopes: scopes
      .filter((scope) => scope.strategy_id === row.id)
      .map(({ id, environment_scope }) => ({ id, environment_scope })),
    user_list: list
      ? { id: list.id, iid: list.iid, name: list.name, user_xids: list.user_xids }
      : null,
  }
}

export async function presentFlag(
  ctx: Pick<Ctx, 'db'>,
  row: FlagRow,
): Promise<z.input<typeof flagEntity>> {
  const [presented] = await presentFlags(ctx, row.project_id, [row])
  if (!presented) throw new Error(`feature flag ${row.id} was not presented`)
  return presented
}
