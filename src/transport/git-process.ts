import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { fallBehind } from '../base/priority.ts'
import { assertStarted, gitArguments, gitEnvironment, startFailure } from '../git/command.ts'
import { removeSoon } from '../git/maintenance/left-over.ts'
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
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  /** What the hooks tell us, and our answers (docs/engine §12). */
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
  const child = spawn(program, given, {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    env: gitEnvironment({ ...protocol, GIT_ALLOC_LIMIT: allocationLimit, ...command.env }),
    cwd: repo.path,
    detached: grouper === undefined,
  })
  assertStarted(child)
  const [stdin, stdout, stderrPipe, fromHook, toHook] = child.stdio
  // With 'pipe' everywhere all five exist; the type of `stdio` can't say so.
  const ends = { stdin, stdout, fromHook, toHook } as unknown as Pick<
    GitService,
    'stdin' | 'stdout' | 'fromHook' | 'toHook'
  >
  let stderr = ''
  ;(stderrPipe as Readable).on('data', (chunk: Buffer) => {
    if (stderr.length < stderrLimit) stderr += chunk.toString('utf8')
  })
  // A git that ends early breaks these pipes; its exit code tells more.
  ends.stdin.on('error', () => {})
  ends.toHook.on('error', () => {})
  ends.fromHook.on('error', () => {})
  const closed = new Promise<{ code: number; stderr: string }>((resolve, reject) => {
    child.on('error', (error) => reject(startFailure('git', error, repo.path)))
    child.on('close', (code) => {
      // However it ended: the one that was killed may have been below it.
      if (code !== 0 && service === 'receive-pack') void removeSoon(repo.path)
      resolve({ code: code ?? -1, stderr })
    })
  })
  closed.catch(() => {})
  const group = child.pid
  fallBehind(group, politeness[service])
  return {
    ...ends,
    pid: group ?? 0,
    closed,
    stop: () => {
      if (isAlive(child)) stopGroup(child, closed)
    },
  }
}

/** Not yet reaped, so that its number is nobody else's. */
function isAlive(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null
}

// TERM lets git remove its quarantine and lock files; KILL follows for what does not listen.
function stopGroup(head: ChildProcess, closed: Promise<unknown>): void {
  signalGroup(head, 'SIGTERM')
  const timer = setTimeout(() => signalGroup(head, 'SIGKILL'), stopPatienceMs)
  const stopTimer = () => clearTimeout(timer)
  closed.then(stopTimer, stopTimer)
}

function signalGroup(head: ChildProcess, signal: NodeJS.Signals): void {
  if (head.pid === undefined) return
  try {
    process.kill(-head.pid, signal)
  } catch {
    // Gone, or only just started and not the head of its group yet.
    if (isAlive(head)) head.kill(signal)
  }
}
