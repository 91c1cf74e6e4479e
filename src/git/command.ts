import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { diskFullText, saysDiskFull } from '../base/full-disk.ts'
import { lowerPriority } from '../base/programs/priority.ts'
import { startProgram } from '../base/programs/program.ts'
import { GitError } from './error.ts'
import { removeSoon } from './locks/left-over.ts'
import { onlyReads } from './locks/lock-holders.ts'

export interface GitCommand {
  /** The arguments. Whatever a caller chose comes after `--end-of-options` or `--`. */
  readonly args: readonly string[]
  /** The repository's folder; none for commands that need none. */
  readonly repo?: string | undefined
  readonly stdin?: Uint8Array | string | Readable | undefined
  /** Configuration for this command alone: `{ 'core.hooksPath': '/…' }`. */
  readonly config?: Readonly<Record<string, string>> | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds until it is killed; 60,000 by default. 0 means no limit. */
  readonly timeout?: number | undefined
  /** Bytes of collected output after which it is killed; 64 MB by default. */
  readonly limit?: number | undefined
  /** Gets what the program prints on standard error, as it comes: its progress. */
  readonly onStderr?: ((text: string) => void) | undefined
  /** How far it gives way to the work of others; not at all by default. */
  readonly politeness?: number | undefined
  /** Exit codes that are an answer rather than a failure; 0 by default. */
  readonly accept?: readonly number[] | undefined
}

export interface GitOutput {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
}

/** A command that runs: its ends, and how it went. */
export interface RunningGit {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Rejects when the command fails, is killed or runs out of time. */
  readonly done: Promise<{ readonly code: number; readonly stderr: string }>
  kill(): void
}

const stderrLimit = 16_384

let emptyHome: string | undefined

/** A folder without a `.gitconfig`, made once. */
function home(): string {
  if (emptyHome === undefined) {
    emptyHome = join(tmpdir(), `gitstead-home-${process.getuid?.() ?? 0}`)
    mkdirSync(emptyHome, { recursive: true, mode: 0o700 })
  }
  return emptyHome
}

/** The fixed environment of every git program we start: no user or system settings, no questions. */
export function gitEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: home(),
    XDG_CONFIG_HOME: home(),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_ALLOW_PROTOCOL: 'file:http:https:ssh:git',
    LC_ALL: 'C',
    TZ: 'UTC',
    ...extra,
  }
}

/** The full argument list: fixed settings first, then the command's own. */
export function gitArguments(command: Pick<GitCommand, 'args' | 'repo' | 'config'>): string[] {
  const settings: Record<string, string> = {
    'safe.directory': '*',
    'protocol.ext.allow': 'never',
    'core.hooksPath': '/dev/null',
    'core.quotePath': 'false',
    ...command.config,
  }
  const options = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  const where = command.repo === undefined ? [] : ['--git-dir', command.repo]
  return [...options, ...where, ...command.args]
}

/** Why a program did not start in a folder. */
export function startFailure(program: string, error: Error, folder?: string): GitError {
  // Node names the program also where the folder is missing: somebody has deleted the repository.
  if (folder !== undefined && !existsSync(folder)) {
    return new GitError('not_found', 'the repository is not there any more')
  }
  const short = 'code' in error && ['EAGAIN', 'EMFILE', 'ENFILE'].includes(String(error.code))
  return new GitError(short ? 'busy' : 'failed', `${program}: ${error.message}`)
}

/** Starts the git program and hands out its ends; the caller reads stdout and awaits `done`. */
export function startGit(command: GitCommand): RunningGit {
  if (command.signal?.aborted) throw new GitError('timeout', 'the caller went away')
  const child = startProgram({
    program: 'git',
    args: gitArguments(command),
    env: gitEnvironment(command.env),
    cwd: command.repo,
  })
  child.pid.then(
    (pid) => lowerPriority(pid, command.politeness),
    () => {},
  )
  let reason: GitError | undefined
  const stop = (error: GitError) => {
    reason ??= error
    child.kill('SIGKILL')
  }
  const onAbort = () => stop(new GitError('timeout', 'the caller went away'))
  const timeout = command.timeout ?? 60_000
  const timer =
    timeout === 0
      ? undefined
      : setTimeout(
          () => stop(new GitError('timeout', `git ${command.args[0]} took too long`)),
          timeout,
        )
  command.signal?.addEventListener('abort', onAbort, { once: true })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    const text = chunk.toString('utf8')
    command.onStderr?.(text)
    // The end says why it failed; before it there may be any amount of progress.
    stderr = (stderr + text).slice(-stderrLimit)
  })
  feed(child.stdin, command.stdin)
  const over = () => {
    clearTimeout(timer)
    command.signal?.removeEventListener('abort', onAbort)
  }
  const done = child.closed.then(
    ({ code, signal }) => {
      over()
      const accepted = code !== null && (command.accept ?? [0]).includes(code)
      if (!accepted) cleanAfter(command)
      if (reason) throw reason
      if (!accepted) throw failure(command, code ?? signal, stderr)
      return { code, stderr }
    },
    (error: Error) => {
      over()
      throw reason ?? startFailure('git', error, command.repo)
    },
  )
  // The caller may be busy with stdout when this fails; it still sees the rejection when it awaits.
  done.catch(() => {})
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    done,
    kill: () => stop(new GitError('failed', `git ${command.args[0]} was stopped`)),
  }
}

/** A program that was killed leaves the locks that it held; one that found no room, some temporary files. */
function cleanAfter({ repo, args }: GitCommand): void {
  if (repo !== undefined && !onlyReads(args[0] ?? '')) void removeSoon(repo)
}

/** Runs the git program and collects its output. */
export async function runGit(command: GitCommand): Promise<GitOutput> {
  const running = startGit(command)
  if (command.stdin === undefined) running.stdin.end()
  const limit = command.limit ?? 64 * 1024 * 1024
  const chunks: Buffer[] = []
  let size = 0
  let tooLarge = false
  running.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= limit) chunks.push(chunk)
    else if (!tooLarge) {
      tooLarge = true
      running.kill()
    }
  })
  try {
    const { code, stderr } = await running.done
    return { code, stdout: Buffer.concat(chunks), stderr }
  } catch (error) {
    if (tooLarge) {
      throw new GitError('too_large', `git ${command.args[0]} answered more than ${limit} bytes`)
    }
    throw error
  }
}

/** Runs the git program and collects the lines that it prints. */
export async function gitLines(command: GitCommand): Promise<string[]> {
  const { stdout } = await runGit(command)
  return stdout.toString('utf8').split('\n').filter(Boolean)
}

/**
 * Yields the output of a git program piece by piece, ended by `separator` (a byte). When the
 * consumer stops early the program is killed.
 */
export async function* gitRecords(command: GitCommand, separator = 0): AsyncGenerator<Buffer> {
  const running = startGit(command)
  if (command.stdin === undefined) running.stdin.end()
  let whole = false
  try {
    let rest: Buffer = Buffer.alloc(0)
    for await (const chunk of running.stdout) {
      let data: Buffer = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
      for (let at = data.indexOf(separator); at >= 0; at = data.indexOf(separator)) {
        yield data.subarray(0, at)
        data = data.subarray(at + 1)
      }
      rest = data
    }
    whole = true
    await running.done
    if (rest.length > 0) yield rest
  } finally {
    if (!whole) running.kill()
  }
}

function feed(stdin: Writable, input: GitCommand['stdin']): void {
  if (input === undefined) return
  if (typeof input === 'string' || input instanceof Uint8Array) stdin.end(input)
  else {
    input.on('error', () => stdin.destroy())
    input.pipe(stdin)
  }
}

function failure(
  command: GitCommand,
  end: number | NodeJS.Signals | null,
  stderr: string,
): GitError {
  if (saysDiskFull(stderr)) return new GitError('full', diskFullText)
  // Somebody else ended it, such as a kernel that is short of memory: the next one may come through.
  if (end === 'SIGKILL' || end === 'SIGTERM') {
    return new GitError('busy', `git ${command.args[0]} was ended by ${end}`)
  }
  const said = stderr.trim().split('\n').at(-1) ?? ''
  return new GitError('failed', `git ${command.args[0]} failed: ${said}`, {
    exit: typeof end === 'number' ? end : -1,
    stderr: stderr.slice(-2000),
  })
}
