import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { assertRefsWhole } from '../../git/refs/broken-refs.ts'
import { countFetch } from '../../projects/projects/facts/count-fetch.ts'
import { protocolVersion } from '../fetch-request.ts'
import { type GitService, startService, stopAfter } from '../git-process.ts'
import type { Admission } from '../http/admission.ts'
import type { Transport } from '../transport.ts'
import type { SshClient } from './client.ts'

/** Lets a client speak with `git upload-pack`, and gives its exit status. */
export async function serveFetch(
  transport: Transport,
  ctx: Ctx,
  { updater, project, notices }: Admission,
  client: SshClient,
): Promise<number> {
  const { repo } = updater
  // Git leaves a broken ref out, and a mirror would remove it.
  await assertRefsWhole(repo, client.signal)
  for (const notice of notices) await client.say(notice.replace(/^/gm, 'remote: '))
  const release = await transport.fetches.acquire(client.signal, repo.caller)
  try {
    const version = protocolVersion(client.protocol)
    const protocol = version === 0 ? undefined : `version=${version}`
    const git = startService({ service: 'upload-pack', repo, options: ['--strict'], protocol })
    const found = await converse(git, client, {
      idleMs: ctx.config.gitIdle,
      longest: transport.timeLimit,
    })
    if (project && found.code === 0 && found.isDone) countFetch(ctx, project.id)
    if (found.code !== 0 && found.stderr !== '') {
      await client.say(withoutPaths(found.stderr, [repo.path, ctx.config.data]))
    }
    return found.code
  } finally {
    release()
  }
}

/** What git says, without where things lie on this machine. */
export function withoutPaths(text: string, paths: readonly string[]): string {
  return paths.reduce((left, path) => left.replaceAll(`${path}/`, '').replaceAll(path, '.'), text)
}

interface Limits {
  /** How long neither side may say anything. */
  readonly idleMs: number
  readonly longest: number
}

async function converse(git: GitService, client: SshClient, { idleMs, longest }: Limits) {
  let reason: GitError | undefined
  const stop = () => git.stop()
  const idle = setTimeout(() => {
    reason = new GitError('timeout', 'the client sends too slowly')
    stop()
  }, idleMs)
  const limit = stopAfter(longest, stop)
  client.signal.addEventListener('abort', stop, { once: true })
  if (client.signal.aborted) stop()
  let isDone = false
  let before = ''
  const take = (chunk: Buffer) => {
    idle.refresh()
    // The client says so once it has all that it needs to know of us.
    const text = before + chunk.toString('latin1')
    isDone ||= text.includes('0009done')
    before = text.slice(-8)
  }
  client.input.on('data', take)
  client.input.pipe(git.stdin)
  git.stdin.on('error', () => {})
  try {
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
      await client.write(chunk)
      idle.refresh()
    }
    const { code, stderr } = await git.closed
    client.signal.throwIfAborted()
    if (reason) throw reason
    return { code, stderr, isDone }
  } finally {
    clearTimeout(idle)
    clearTimeout(limit)
    client.signal.removeEventListener('abort', stop)
    client.input.off('data', take)
    client.input.unpipe(git.stdin)
    client.input.resume()
    stop()
  }
}
