import type { Log } from '../base/log.ts'
import { damaged, damageText, GitError } from '../git/error.ts'
import { listBrokenRefs } from '../git/refs/broken-refs.ts'
import type { Repo } from '../git/repo.ts'
import { type FetchRequest, protocolVersion, readFetchRequest } from './fetch-request.ts'
import { collect, type GitService, startService, stopAfter } from './git-process.ts'
import { packet } from './pkt-line.ts'
import type { Transport } from './transport.ts'

// Whole clones of larger repositories are not worth their space on disk: git streams them from
// its pack and bitmap.
const maxCachedRepository = 256 * 1024 * 1024

/**
 * Answers one request of a fetching client. What can't differ between callers is remembered: ref
 * lists for as long as no ref moves, packs for clients that have nothing yet.
 */
export async function* uploadPack(
  transport: Transport,
  repo: Repo,
  body: Buffer,
  protocol: string | undefined,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): AsyncGenerator<Buffer> {
  const version = protocolVersion(protocol)
  const spoken = version === 0 ? undefined : `version=${version}`
  const request = readFetchRequest(body, spoken)
  const run = (stop: AbortSignal) => runUploadPack(transport, repo, body, spoken, stop)
  if (request.kind === 'ls-refs') {
    const broken = (await listBrokenRefs(repo, {}, signal)).find(({ name }) =>
      request.prefixes.some((prefix) => name.startsWith(prefix)),
    )
    if (broken) {
      const error = damaged(broken.what)
      log.error('a repository is damaged', { error, repository: repo.key })
      yield packet(`ERR ${damageText(error)}\n`)
      return
    }
    yield await transport.advertisements.lsRefs(repo, request.cacheKey, () => collect(run(signal)))
    return
  }
  try {
    if (await worthKeeping(transport, repo, request)) {
      yield* transport.packs.serve(repo.key, request.cacheKey, signal, run)
    } else yield* run(signal)
  } catch (error) {
    // The client has git's error, in a whole answer, which nobody keeps.
    if (!(error instanceof ToldByGit)) throw error
  }
}

/** Git has answered its client what is wrong with the request, and ended. */
class ToldByGit extends GitError {}

async function worthKeeping(
  transport: Transport,
  repo: Repo,
  request: FetchRequest,
): Promise<boolean> {
  if (request.kind !== 'fetch' || !request.fresh) return false
  return request.partial || (await transport.packBytes(repo)) <= maxCachedRepository
}

async function* runUploadPack(
  transport: Transport,
  repo: Repo,
  body: Buffer,
  protocol: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const release = await transport.fetches.acquire(signal, repo.caller)
  try {
    const options = ['--stateless-rpc']
    const git = startService({ service: 'upload-pack', repo, options, protocol })
    yield* answerOf(git, body, transport.timeLimit, signal)
  } finally {
    release()
  }
}

async function* answerOf(
  git: GitService,
  body: Buffer,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const stop = () => git.stop()
  signal.addEventListener('abort', stop, { once: true })
  const timer = stopAfter(limit, stop)
  let last: Buffer | undefined
  try {
    git.stdin.end(body)
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
      last = chunk
      yield chunk
    }
    const { code, stderr } = await git.closed
    signal.throwIfAborted()
    if (code !== 0) throw uploadError(stderr, last)
  } finally {
    signal.removeEventListener('abort', stop)
    clearTimeout(timer)
    stop()
  }
}

function uploadError(stderr: string, last: Buffer | undefined): GitError {
  const said = `git upload-pack: ${stderr.trim().split('\n').at(-1) ?? ''}`
  if (last === undefined) return new GitError('invalid', said)
  return endsWithRefusal(last) ? new ToldByGit('invalid', said) : new GitError('failed', said)
}

/** Whether the last packet is an `ERR` (gitprotocol-pack). */
function endsWithRefusal(chunk: Buffer): boolean {
  const at = chunk.lastIndexOf('ERR ') - 4
  return at >= 0 && Number.parseInt(chunk.toString('latin1', at, at + 4), 16) === chunk.length - at
}
