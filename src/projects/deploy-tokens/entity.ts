import { z } from 'zod'
import { isDeployTokenOver } from '../../access/authentication/deploy-token.ts'
import type { DeployTokenRow } from '../../access/authentication/deploy-token-queries.ts'
import { DEPLOY_SCOPES } from '../../access/scopes.ts'
import type { Ctx } from '../../ctx.ts'

export const deployTokenEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  username: z.string(),
  expires_at: z.string().nullable(),
  scopes: z.array(z.string()),
  revoked: z.boolean(),
  expired: z.boolean(),
  token: z.string().optional(),
})

/** `secret` is given by whoever has just made the token; scopes stand in their fixed order (docs/contract/A-resolved §8.1). */
export function presentDeployToken(
  ctx: Pick<Ctx, 'config' | 'now'>,
  row: DeployTokenRow,
  secret?: string,
): z.input<typeof deployTokenEntity> {
  const scopes = JSON.parse(row.scopes) as string[] // written by us as a JSON list of words
  return {
    id: row.id,
    name: row.name,
    username: row.username ?? ctx.config.vendor.deployTokenUser(row.id),
    expires_at: row.expires_at,
    scopes: DEPLOY_SCOPES.filter((scope) => scopes.includes(scope)),
    revoked: row.revoked === 1,
    expired: isDeployTokenOver(row.expires_at, ctx.now()),
    ...(secret === undefined ? {} : { token: secret }),
  }
}
