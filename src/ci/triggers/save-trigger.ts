import { randomBytes } from 'node:crypto'
import { userOf } from '../../access/actor.ts'
import { audit } from '../../access/audit.ts'
import { digestOf } from '../../access/token-use.ts'
import type { Instant } from '../../base/clock.ts'
import { invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { deleteTrigger, insertTrigger, type TriggerRow, updateTrigger } from './queries.ts'

/** What is sealed as the token of a trigger, which its owner may read again. */
export const TRIGGER_PURPOSE = 'ci_triggers.token'

const SHOWN = 4

/** Makes a token that starts pipelines as whoever makes it. */
export async function createTrigger(
  ctx: Ctx,
  projectId: number,
  input: { readonly description: string; readonly expires_at?: Instant | null | undefined },
): Promise<TriggerRow> {
  assertDescription(input.description)
  const secret = randomBytes(24).toString('base64url')
  const token = ctx.config.vendor.tokenPrefix('trigger') + secret
  return await inTransaction(ctx, async (ctx) => {
    const row = await insertTrigger(ctx.db, {
      project_id: projectId,
      owner_id: userOf(ctx.actor)?.id ?? null,
      description: input.description,
      token_digest: digestOf(token),
      sealed_token: ctx.vault.seal(token, TRIGGER_PURPOSE),
      token_start: secret.slice(0, SHOWN),
      expires_at: input.expires_at ?? null,
      created_at: ctx.now(),
      updated_at: ctx.now(),
    })
    await audit(ctx, {
      entity: { type: 'Project', id: projectId },
      action: 'ci_trigger_created',
      details: { trigger_id: row.id },
    })
    return row
  })
}

/** Describes a token anew, or changes when it ends. */
export async function changeTrigger(
  ctx: Ctx,
  row: TriggerRow,
  input: {
    readonly description?: string | undefined
    readonly expires_at?: Instant | null | undefined
  },
): Promise<TriggerRow> {
  const { description, expires_at } = input
  if (description !== undefined) assertDescription(description)
  return await updateTrigger(ctx.db, row.id, {
    ...(description === undefined ? {} : { description }),
    ...(expires_at === undefined ? {} : { expires_at }),
    updated_at: ctx.now(),
  })
}

function assertDescription(text: string): void {
  if (text.trim() === '') throw invalid({ description: ["can't be blank"] })
}

export async function removeTrigger(ctx: Ctx, row: TriggerRow): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await deleteTrigger(ctx.db, row.id)
    await audit(ctx, {
      entity: { type: 'Project', id: row.project_id },
      action: 'ci_trigger_deleted',
      details: { trigger_id: row.id },
    })
  })
}
