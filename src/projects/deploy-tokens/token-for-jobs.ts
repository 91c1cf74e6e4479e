import { isDeployTokenOver } from '../../access/authentication/deploy-token.ts'
import type { Ctx } from '../../ctx.ts'
import { listTokensForJobs } from './queries.ts'

const PURPOSE = 'deploy_tokens.secret'

/** The secret of a new deploy token as jobs need it; null for tokens of names that jobs do not get (docs/contract/D §5.6). */
export function sealForJobs(ctx: Ctx, name: string, secret: string): string | null {
  return ctx.config.vendor.jobDeployTokens.includes(name) ? ctx.vault.seal(secret, PURPOSE) : null
}

/** The deploy token that the jobs of a project sign in with: its own before its group's, the newest first. */
export async function findTokenForJobs(
  ctx: Ctx,
  project: { readonly id: number; readonly namespace_id: number },
): Promise<{ readonly username: string; readonly secret: string } | undefined> {
  const rows = await listTokensForJobs(ctx.db, project)
  const row = rows.find(({ expires_at }) => !isDeployTokenOver(expires_at, ctx.now()))
  if (!row?.sealed_secret) return undefined
  const username = row.username ?? ctx.config.vendor.deployTokenUser(row.id)
  return { username, secret: ctx.vault.open(row.sealed_secret, PURPOSE) }
}
