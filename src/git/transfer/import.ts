import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from '../error.ts'
import type { Repo } from '../repo.ts'
import { type Fetched, fetchWhole, type RemoteHead, readRemoteHead } from './fetch-whole.ts'
import { openRemote, type RemoteOptions, type RemoteSource } from './remote.ts'

export interface ImportOptions extends RemoteOptions {
  /** A folder of its own in the data folder, which the caller removes afterwards. */
  readonly scratch: string
  /** Bytes on disk after which it is given up; 10 GB by default. */
  readonly maxBytes?: number | undefined
  readonly onProgress?: ((text: string) => void) | undefined
  /** What this repository has already is not fetched again. */
  readonly known?: Repo | undefined
}

/** A repository that was fetched and checked; `fetched.moveInto` takes its objects in. */
export interface Imported {
  readonly head: RemoteHead
  readonly fetched: Fetched
}

const defaultLimit = 10 * 1024 ** 3

function traceOf({ scratch }: ImportOptions): string {
  return join(scratch, 'trace')
}

/**
 * A server may claim to be smart when we ask and not when git does. Then git fetches plain files and
 * checks nothing, and it has no setting against that; but it reports which programs it starts. Whatever
 * came must have gone through `index-pack --strict`, on the one connection for it.
 */
async function assertChecked(options: ImportOptions, fetched: Fetched): Promise<void> {
  if (fetched.refs.length === 0 || !fetched.broughtObjects) return
  const trace = await readFile(traceOf(options), 'utf8')
  const connections = trace.match(/"argv":\["git","remote-https?"/g)?.length ?? 0
  // One to ask for the branches, one to fetch them.
  if (connections <= 2 && /"argv":\["git","index-pack"[^\]]*"--strict/.test(trace)) return
  throw new GitError('invalid', 'the other server speaks only the protocol of plain files')
}

/** Bytes of all files below a folder. */
async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  // Files come and go while git works.
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (found) => (found.isFile() ? found.size : 0),
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Does the work while a clock looks at what it fills the disk with. */
async function withinLimit<T>(
  options: ImportOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = options.maxBytes ?? defaultLimit
  const stop = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
  const tooLarge = new GitError('too_large', `the repository is larger than ${limit} bytes`)
  const check = async () => {
    if ((await sizeOf(options.scratch)) > limit) stop.abort(tooLarge)
  }
  const timer = setInterval(() => void check(), 500)
  try {
    const result = await work(signal)
    await check()
    if (stop.signal.aborted) throw tooLarge
    return result
  } catch (error) {
    throw stop.signal.aborted ? tooLarge : error
  } finally {
    clearInterval(timer)
  }
}

/**
 * Fetches the repository at an address that a user gave, into a folder of its own, every object
 * checked as in a push (docs/faults, "git fetch has no quarantine"). Nothing is moved in before the caller says so.
 */
export async function importRepository(
  source: RemoteSource,
  options: ImportOptions,
): Promise<Imported> {
  const { url, access } = await openRemote(source, 'git-upload-pack', options)
  const { scratch, onProgress, known } = options
  const traced = { ...access, env: { ...access.env, GIT_TRACE2_EVENT: traceOf(options) } }
  return withinLimit(options, async (signal) => {
    const how = { scratch, onProgress, signal, access: traced, known }
    const head = await readRemoteHead(url, how)
    const fetched = await fetchWhole(url, head, how)
    await assertChecked(options, fetched)
    return { head, fetched }
  })
}
