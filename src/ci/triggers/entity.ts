import { z } from 'zod'
import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import type { TriggerRow } from './queries.ts'
import { TRIGGER_PURPOSE } from './save-trigger.ts'

/** A trigger token (docs/contract/D §1.17). */
export const triggerEntity = z.strictObject({
  id: z.int(),
  token: z.string(),
  description: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  last_used: z.string().nullable(),
  expires_at: z.string().nullable(),
  owner: userBasicEntity.nullable(),
})

/** Triggers; their owner alone sees a token in full. */
export async function presentTriggers(
  ctx: Ctx,
  rows: readonly TriggerRow[],
): Promise<z.input<typeof triggerEntity>[]> {
  const users = await usersById(
    ctx,
    rows.map((row) => row.owner_id),
  )
  const caller = userOf(ctx.actor)?.id
  return rows.map((row) => ({
    id: row.id,
    token:
      caller !== undefined && row.owner_id === caller
        ? ctx.vault.open(row.sealed_token, TRIGGER_PURPOSE)
        : row.token_start,
    description: row.description,
    created_at: row.created_at,
    updated_at: row.updated_at,
    last_used: row.last_used_at,
    expires_at: row.expires_at,
    owner: (row.owner_id === null ? undefined : users.get(row.owner_id)) ?? null,
  }))
}

export async function presentTrigger(
  ctx: Ctx,
  row: TriggerRow,
): Promise<z.input<typeof triggerEntity>> {
  const [presented] = await presentTriggers(ctx, [row])
  if (!presented) throw new Error(`trigger ${row.id} was not presented`)
  return presented
}
