import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { lowerPriority } from '../base/programs/priority.ts'
import { type Program, startProgram } from '../base/programs/program.ts'
import { gitArguments, gitEnvironment, startFailure } from '../git/command.ts'
import { removeSoon } from '../git/locks/left-over.ts'
import type { Repo } from '../git/repo.ts'

export interface ServiceCommand {
  readonly service: 'upload-pack' | 'receive-pack'
  readonly repo: Repo
  /** `--stateless-rpc`, `--http-backend-info-refs`. */
  readonly options: readonly string[]
  /** The client's `Git-Protocol`. */
  readonly protocol: string | undefined
  readonly config?: Readonly<Record<string, string>> | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

/** A git service that talks the wire protocol with a client. */
export interface GitService {
  /** Its number, once it runs. */
  readonly pid: Promise<number>
  readonly stdin: Writable
  readonly stdout: Readable
  /** What the hooks ask, and our answers. */
  readonly fromHook: Readable
  readonly toHook: Writable
  /** Resolves when the process and everybody who holds its output are gone. */
  readonly closed: Promise<{ readonly code: number; readonly stderr: string }>
  /** Ends the process and the ones it started, within a second. */
  stop(): void
}

const stderrLimit = 16_384
// A single allocation above this is a pack made to exhaust memory: big blobs are streamed instead.
const allocationLimit = '512m'
const stopPatienceMs = 600
/** A crowd of clones must not keep pushes and other work from the processor. */
const politeness = { 'upload-pack': 5, 'receive-pack': 0 } as const

/**
 * Makes git the head of a process group that can be ended as a whole, as a shell does for what runs in its background.
 * Node's `detached` would begin a session instead, and a kernel that shares the processor out by sessions then gives
 * each single git as much of it as the whole server.
 */
const grouper = ['/usr/bin/timeout', '/bin/timeout'].find((path) => existsSync(path))

/**
 * Starts `git upload-pack` or `git receive-pack` as the head of its own process group, with two
 * more pipes that its hooks inherit.
 */
export function startService(command: ServiceCommand): GitService {
  const { service, repo } = command
  const args = gitArguments({
    args: [service, ...command.options, repo.path],
    config: { 'core.bigFileThreshold': '64m', ...command.config },
  })
  const protocol = command.protocol === undefined ? {} : { GIT_PROTOCOL: command.protocol }
  const [program, given] = grouper ? [grouper, ['0', 'git', ...args]] : ['git', args]
  const child = startProgram({
    program,
    args: given,
    env: gitEnvironment({ ...protocol, GIT_ALLOC_LIMIT: allocationLimit, ...command.env }),
    cwd: repo.path,
    extra: true,
    detached: grouper === undefined,
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < stderrLimit) stderr += chunk.toString('utf8')
  })
  const closed = child.closed.then(
    ({ code }) => {
      // However it ended: the one that was killed may have been below it.
      if (code !== 0 && service === 'receive-pack') void removeSoon(repo.path)
      return { code: code ?? -1, stderr }
    },
    (error: Error) => {
      throw startFailure('git', error, repo.path)
    },
  )
  closed.catch(() => {})
  child.pid.then(
    (pid) => lowerPriority(pid, politeness[service]),
    () => {},
  )
  const { stdin, stdout, pid, extra } = child
  return {
    stdin,
    stdout,
    pid,
    fromHook: extra.from,
    toHook: extra.to,
    closed,
    stop: () => stopGroup(child),
  }
}

/** All that a stream gives. */
export async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Lets a transfer last no longer than so many milliseconds; 0 has no limit. */
export function stopAfter(milliseconds: number, stop: () => void): NodeJS.Timeout | undefined {
  return milliseconds === 0 ? undefined : setTimeout(stop, milliseconds).unref()
}

// TERM lets git remove its quarantine and lock files; KILL follows for what does not listen.
function stopGroup(head: Program): void {
  head.kill('SIGTERM', 'group')
  const timer = setTimeout(() => head.kill('SIGKILL', 'group'), stopPatienceMs)
  const stopTimer = () => clearTimeout(timer)
  head.closed.then(stopTimer, stopTimer)
}
