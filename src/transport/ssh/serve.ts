import { type Actor, ANONYMOUS, userOf } from '../../access/actor.ts'
import { assertMayEnter } from '../../access/authentication/entry.ts'
import { mayUseGit } from '../../access/authentication/sign-in-basic.ts'
import { sshUrl } from '../../base/config.ts'
import { diskFullText, isDiskFull } from '../../base/full-disk.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { damageText, GitError, isDamage } from '../../git/error.ts'
import { isExhausted } from '../../http/listener/connection-limit.ts'
import { admit } from '../http/access.ts'
import type { Admission } from '../http/admission.ts'
import { ProjectsByPush } from '../http/create-by-push.ts'
import type { Transport } from '../transport.ts'
import { findSshActor, type SshIdentity, touchKey } from './actor.ts'
import type { SshClient } from './client.ts'
import { readCommand, type SshCommand } from './command.ts'
import { serveFetch } from './fetch.ts'
import { answerLfsAuthenticate } from './lfs.ts'
import { servePush } from './push.ts'

/** What git over SSH is given by the app. */
export interface GitOverSsh {
  readonly transport: Transport
  readonly makeCtx: (actor: Actor, ip: string) => Ctx
}

export interface SshRequest {
  readonly identity: SshIdentity
  readonly ip: string
  /** As the client wrote it; empty for a shell. */
  readonly line: string
}

/** Runs what a client asks for and gives the exit status (docs/contract/D §3.3). Who asks is looked up anew each time. */
export async function serveCommand(
  parts: GitOverSsh,
  { identity, ip, line }: SshRequest,
  client: SshClient,
): Promise<number> {
  const stranger = parts.makeCtx(ANONYMOUS, ip)
  try {
    const actor = await findSshActor(stranger, identity)
    if (!actor) return await refuse(client, 'This key may not be used any more.')
    const ctx = parts.makeCtx(actor, ip)
    await assertMayEnter(ctx, actor)
    await touchKey(ctx, identity).catch((error: unknown) =>
      ctx.log.warn('the use of a key was not noted', { error }),
    )
    const command = readCommand(line)
    if (!command) return await refuse(client, 'Disallowed command')
    if (ctx.settings.get('enabled_git_access_protocol') === 'http' && command.kind !== 'greeting') {
      return await refuse(client, 'Git access over SSH is not allowed')
    }
    return await run(parts, ctx, identity, command, client)
  } catch (error) {
    if (client.signal.aborted) return 128
    const problem = problemText(error)
    if (problem === undefined) stranger.log.error('transfer over SSH failed', { error })
    return await refuse(client, problem ?? 'The server failed.').catch(() => 128)
  }
}

async function run(
  { transport }: GitOverSsh,
  ctx: Ctx,
  identity: SshIdentity,
  command: SshCommand,
  client: SshClient,
): Promise<number> {
  if (command.kind === 'greeting') {
    const user = userOf(ctx.actor)
    await client.write(`Welcome to Gitstead, ${user ? `@${user.username}` : 'Anonymous'}!\n`)
    return 0
  }
  if (command.kind === 'lfs') {
    await client.write(await answerLfsAuthenticate(ctx, identity, command))
    return 0
  }
  const service = command.kind === 'fetch' ? 'upload-pack' : 'receive-pack'
  const byPush = new ProjectsByPush()
  const urlOf = (path: string) => sshUrl(ctx.config, path)
  const asked = { path: command.path, service, urlOf } as const
  const found = await admit(ctx, asked, byPush)
  const admission = withNotice(found, found.project && byPush.takeNotice(ctx, found.project, urlOf))
  if (!mayUseGit(ctx.actor, command.kind === 'fetch' ? 'pull' : 'push')) return 1
  return command.kind === 'fetch'
    ? await serveFetch(transport, ctx, admission, client)
    : await servePush(transport, ctx, admission, client)
}

function withNotice(admission: Admission, notice: string | undefined): Admission {
  if (notice === undefined) return admission
  return { ...admission, notices: [notice, ...admission.notices] }
}

const rule = '='.repeat(72)

/** A refusal as users of the reference platform know it. */
async function refuse(client: SshClient, reason: string): Promise<number> {
  const text = reason.trim().split('\n')
  const lines = ['', rule, '', ...text.map((line, at) => (at === 0 ? `ERROR: ${line}` : line)), '']
  await client.say([...lines, rule, ''].map((line) => `remote: ${line}`.trimEnd()).join('\n'))
  return 1
}

/** What is sent of an error; undefined for faults of ours. */
function problemText(error: unknown): string | undefined {
  if (error instanceof Problem) return error.message
  if (isDamage(error)) return damageText(error)
  if (isDiskFull(error)) return diskFullText
  if (isExhausted(error)) return 'The server is busy. Try again in a few seconds.'
  const isTold = error instanceof GitError && error.code !== 'failed'
  return isTold ? error.message : undefined
}
