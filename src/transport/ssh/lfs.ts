import { userOf } from '../../access/actor.ts'
import { issueClientToken } from '../../access/authentication/client-token.ts'
import type { Ctx } from '../../ctx.ts'
import { assertMayWrite, getLfsProject } from '../lfs/access.ts'
import { type LfsGrant, writeGrant } from '../lfs/grant.ts'
import type { SshIdentity } from './actor.ts'
import type { SshCommand } from './command.ts'

const SECONDS = 7200

/** `git-lfs-authenticate`: where large files are to be fetched from or brought to, and what opens that for two hours. */
export async function answerLfsAuthenticate(
  ctx: Ctx,
  identity: SshIdentity,
  { path, operation }: Extract<SshCommand, { kind: 'lfs' }>,
): Promise<string> {
  const project = await getLfsProject(ctx, path)
  if (operation === 'upload') await assertMayWrite(ctx, project)
  const grant: LfsGrant = { identity, projectId: project.id, operation }
  const token = issueClientToken(ctx, writeGrant(grant), { purpose: 'git_lfs', seconds: SECONDS })
  const name = userOf(ctx.actor)?.username ?? 'git'
  const basic = Buffer.from(`${name}:${token}`).toString('base64')
  return JSON.stringify({
    header: { Authorization: `Basic ${basic}` },
    href: `${ctx.config.externalUrl}/${project.full_path}.git/info/lfs`,
    expires_in: SECONDS,
  })
}
