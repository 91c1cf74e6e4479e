import type { Actor } from '../../access/actor.ts'
import { openClientToken } from '../../access/authentication/client-token.ts'
import type { Ctx } from '../../ctx.ts'
import { basicOf } from '../../http/credentials/credentials.ts'
import { findSshActor, type SshIdentity } from '../ssh/actor.ts'

/** What `git-lfs-authenticate` lets a client do over HTTP: large files of one project, for as long as its key is good. */
export interface LfsGrant {
  readonly identity: SshIdentity
  readonly projectId: number
  readonly operation: 'download' | 'upload'
}

export function writeGrant(grant: LfsGrant): string {
  return JSON.stringify(grant)
}

/** The grant that a client brings, with who acts by it; undefined for every other credential, or when it is over. */
export async function findLfsGrant(
  ctx: Ctx,
  authorization: string | undefined,
): Promise<{ readonly grant: LfsGrant; readonly actor: Actor } | undefined> {
  const basic = authorization === undefined ? undefined : basicOf(authorization)
  const text = basic && openClientToken(ctx, basic.password, 'git_lfs')
  if (text === undefined) return undefined
  const grant = JSON.parse(text) as LfsGrant // sealed by us
  const actor = await findSshActor(ctx, grant.identity)
  return actor && { grant, actor }
}
