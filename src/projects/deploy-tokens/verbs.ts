import { randomBytes } from 'node:crypto'
import { userOf } from '../../access/actor.ts'
import { audit } from '../../access/audit.ts'
import {
  type DeployTokenRow,
  deleteDeployTokenRow,
  insertDeployToken,
} from '../../access/authentication/deploy-token-queries.ts'
import type { SourceRef } from '../../access/sources.ts'
import { digestOf } from '../../access/token-use.ts'
import type { Instant } from '../../base/clock.ts'
import { invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { sealForJobs } from './token-for-jobs.ts'

export interface DeployTokenInput {
  readonly name: string
  readonly scopes: readonly string[]
  readonly expires_at?: Instant | null | undefined
  readonly username?: string | null | undefined
}

/** What is wrong, as whole sentences (docs/contract/A-resolved §8.1). */
function faultsOf(input: DeployTokenInput): string[] {
  const username = input.username ?? ''
  return [
    ...(input.name.trim() === '' ? ["Name can't be blank"] : []),
    ...(input.name.length > 255 ? ['Name is too long (maximum is 255 characters)'] : []),
    ...(input.scopes.length === 0 ? ["Scopes can't be blank"] : []),
    ...(username.length > 255 ? ['Username is too long (maximum is 255 characters)'] : []),
    ...(/^[A-Za-z0-9_+.-]*$/.test(username)
      ? []
      : ["Username can contain only letters, digits, '_', '-', '+', and '.'"]),
  ]
}

/** Makes a deploy token; its secret is returned this once. */
export async function createDeployToken(
  ctx: Ctx,
  place: SourceRef,
  input: DeployTokenInput,
): Promise<{ readonly row: DeployTokenRow; readonly secret: string }> {
  const faults = faultsOf(input)
  if (faults.length > 0) throw invalidText(faults.join(', '))
  const secret = ctx.config.vendor.tokenPrefix('deploy') + randomBytes(32).toString('base64url')
  const row = await inTransaction(ctx, async (inner) => {
    const now = inner.now()
    const made = await insertDeployToken(inner.db, {
      source_type: place.type,
      source_id: place.id,
      name: input.name,
      username: input.username || null,
      digest: digestOf(secret),
      sealed_secret: sealForJobs(ctx, input.name, secret),
      scopes: JSON.stringify([...new Set(input.scopes)]),
      expires_at: input.expires_at ?? null,
      created_by_id: userOf(inner.actor)?.id ?? null,
      created_at: now,
      updated_at: now,
    })
    await auditDeployToken(inner, 'deploy_token_created', made)
    return made
  })
  return { row, secret }
}

/** Removes the token, so that no list shows it any more. */
export async function removeDeployToken(ctx: Ctx, row: DeployTokenRow): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await deleteDeployTokenRow(inner.db, row.id)
    await auditDeployToken(inner, 'deploy_token_deleted', row)
  })
}

async function auditDeployToken(ctx: Ctx, action: string, row: DeployTokenRow): Promise<void> {
  await audit(ctx, {
    entity: { type: row.source_type === 'project' ? 'Project' : 'Group', id: row.source_id },
    action,
    details: { token_id: row.id, name: row.name, scopes: row.scopes, expires_at: row.expires_at },
  })
}
