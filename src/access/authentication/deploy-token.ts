import { dayOf, type Instant } from '../../base/clock.ts'
import type { DeployTokenActor } from '../actor.ts'
import { digestOf, isDue } from '../token-use.ts'
import type { AuthenticationContext } from './authentication-context.ts'
import { findDeployTokenByDigest, touchDeployToken } from './sign-in-queries.ts'

/** What the time of an expiry is when only a day was given. */
export const MIDNIGHT = 'T00:00:00.000Z'

/** A deploy token ends at its time; one that was given a day alone lives through it (docs/contract/A-resolved §8.1). */
export function isDeployTokenOver(expiresAt: Instant | null, now: Instant): boolean {
  if (expiresAt === null) return false
  return expiresAt.endsWith(MIDNIGHT) ? dayOf(expiresAt) < dayOf(now) : expiresAt <= now
}

/** The deploy token behind a `DEPLOY-TOKEN` header or a password; with a user name, both must fit. */
export async function findDeployToken(
  context: AuthenticationContext,
  given: { readonly user?: string | undefined; readonly password: string },
): Promise<DeployTokenActor | undefined> {
  const row = await findDeployTokenByDigest(context.db, digestOf(given.password))
  if (!row || row.revoked === 1) return undefined
  const now = context.now()
  if (isDeployTokenOver(row.expires_at, now)) return undefined
  const username = row.username ?? context.config.vendor.deployTokenUser(row.id)
  if (given.user !== undefined && given.user !== username) return undefined
  if (isDue(row.last_used_at, now)) await touchDeployToken(context.db, row.id, now)
  return {
    kind: 'deploy_token',
    id: row.id,
    username,
    scopes: JSON.parse(row.scopes) as string[], // written by us as a JSON list of words
    projectId: row.source_type === 'project' ? row.source_id : null,
    groupId: row.source_type === 'group' ? row.source_id : null,
  }
}
