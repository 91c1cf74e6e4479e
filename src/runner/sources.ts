import type { Dirent } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertFetchFlags } from './fetch-flags.ts'
import { isFolder } from './globs.ts'
import { type Job, JobFailure } from './job.ts'
import type { JobGit } from './job-git.ts'
import type { Variables } from './variables.ts'

/** What stays of a checkout for the next job: an earlier one may have left settings, hooks and locks beside it. */
const KEPT = ['objects', 'refs', 'packed-refs', 'shallow', 'HEAD', 'index', 'lfs']

const ATTEMPTS = 3
const MOST_ATTEMPTS = 10
/** Attempts that a server cut off by going away count for nothing, so many times. */
const MOST_CUT_OFF = 20
const BETWEEN_MS = 1000

/** What getting the sources needs of the job that runs. */
export interface SourceTools {
  readonly git: JobGit
  /** Waits for a server that has gone away; true when it had. */
  readonly awaitServer: () => Promise<boolean>
  /** Aborts when the job is over: canceled, out of time, or stopped with the runner. */
  readonly signal: AbortSignal
  /** Says something in the log. */
  readonly say: (line: string) => void
}

/** Brings the project to the commit of a job, as `GIT_STRATEGY` and its kin say. */
export async function getSources(
  job: Job,
  variables: Variables,
  folder: string,
  { git, awaitServer, signal, say }: SourceTools,
): Promise<void> {
  const strategy = strategyOf(job, variables, say)
  if (strategy === 'none') return
  if (strategy === 'empty') return await emptyFolder(folder)
  const attempts = attemptsOf(variables)
  // Submodules have settings in places of their own, which an earlier job may have changed.
  const startsAnew = strategy === 'clone' || submoduleStrategyOf(variables) !== 'none'
  let cutOff = 0
  for (let attempt = 1; ; attempt += 1) {
    const isFresh = startsAnew || attempt > 1
    if (await fetchSources(job, variables, { folder, isFresh, git })) return
    if ((await awaitServer()) && cutOff < MOST_CUT_OFF) cutOff += 1
    const failure = new JobFailure('script_failure', 'git failed')
    if (attempt - cutOff >= attempts) throw failure
    await sleep(BETWEEN_MS, undefined, { signal }).catch(() => {
      throw failure
    })
  }
}

const STRATEGIES = ['fetch', 'clone', 'none', 'empty'] as const

/** A strategy that nobody knows counts as none given, as it does for stock runners. */
function strategyOf(
  job: Job,
  variables: Variables,
  say: SourceTools['say'],
): (typeof STRATEGIES)[number] {
  const asked = variables.get('GIT_STRATEGY')
  const known = STRATEGIES.find((one) => one === asked)
  if (known) return known
  if (asked) say(`WARNING: GIT_STRATEGY ${asked} is none of ${STRATEGIES.join(', ')}`)
  return job.allow_git_fetch ? 'fetch' : 'clone'
}

function attemptsOf(variables: Variables): number {
  const asked = Number(variables.get('GET_SOURCES_ATTEMPTS')) || ATTEMPTS
  return Math.min(MOST_ATTEMPTS, Math.max(1, asked))
}

interface Checkout {
  readonly folder: string
  readonly isFresh: boolean
  readonly git: JobGit
}

async function fetchSources(
  job: Job,
  variables: Variables,
  { folder, isFresh, git }: Checkout,
): Promise<boolean> {
  if (isFresh) await emptyFolder(folder)
  else await forgetSettings(folder)
  const { repo_url: url, refspecs, sha } = job.git_info
  const depth = Number(variables.get('GIT_DEPTH') ?? job.git_info.depth) || 0
  const run = async (...args: string[]) => (await git(args, folder)) === 0
  const deep = depth > 0 ? ['--depth', String(depth)] : []
  const fetchFlags = flagsOf(variables.get('GIT_FETCH_EXTRA_FLAGS')) ?? ['--prune', '--quiet']
  assertFetchFlags(fetchFlags)
  const isFetched =
    (await run('init', '--quiet', '--template=')) &&
    (await run('config', 'remote.origin.url', url)) &&
    (await run(
      'fetch',
      '--no-recurse-submodules',
      ...deep,
      ...fetchFlags,
      '--end-of-options',
      'origin',
      ...refspecs,
    ))
  if (!isFetched) return false
  if (variables.get('GIT_CHECKOUT') === 'false') return true
  if (!(await run('checkout', '--force', '--quiet', '--detach', sha))) return false
  const clean = flagsOf(variables.get('GIT_CLEAN_FLAGS')) ?? ['-ffdx']
  if (clean[0] !== 'none' && !(await run('clean', '--quiet', ...clean))) return false
  if (!(await getLargeFiles(variables, run))) return false
  return await getSubmodules(variables, depth, run)
}

type Run = (...args: string[]) => Promise<boolean>

async function getLargeFiles(variables: Variables, run: Run): Promise<boolean> {
  if (variables.isOn('GIT_LFS_SKIP_SMUDGE')) return true
  if (!(await run('lfs', 'version'))) return true
  return await run('lfs', 'pull')
}

function submoduleStrategyOf(variables: Variables): string {
  return variables.get('GIT_SUBMODULE_STRATEGY') ?? 'none'
}

async function getSubmodules(variables: Variables, depth: number, run: Run): Promise<boolean> {
  const strategy = submoduleStrategyOf(variables)
  if (strategy === 'none') return true
  const recursive = strategy === 'recursive' ? ['--recursive'] : []
  const own = Number(variables.get('GIT_SUBMODULE_DEPTH') ?? depth) || 0
  const deep = own > 0 ? ['--depth', String(own)] : []
  const paths = flagsOf(variables.get('GIT_SUBMODULE_PATHS')) ?? []
  return (
    (await run('submodule', 'init')) &&
    (await run('submodule', 'sync', ...recursive)) &&
    (await run('submodule', 'update', '--init', '--force', ...recursive, ...deep, '--', ...paths))
  )
}

function flagsOf(text: string | undefined): string[] | undefined {
  const words = text?.trim().split(/\s+/).filter(Boolean)
  return words && words.length > 0 ? words : undefined
}

async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    await rm(join(folder, name), { recursive: true, force: true })
  }
}

async function forgetSettings(folder: string): Promise<void> {
  const git = join(folder, '.git')
  if (!(await isFolder(git))) return await emptyFolder(folder)
  for (const entry of await readdir(git, { withFileTypes: true })) {
    const path = join(git, entry.name)
    const isKept = KEPT.includes(entry.name) && (entry.isFile() || entry.isDirectory())
    if (!isKept) await rm(path, { recursive: true, force: true })
    else if (!(await isPlain(path, entry))) return await emptyFolder(folder)
  }
  // Where else objects are: git makes it anew as far as it needs it.
  await rm(join(git, 'objects', 'info'), { recursive: true, force: true })
}

/** Whether something is a file, or a folder with nothing but these below it: git writes through links, and waits for pipes. */
async function isPlain(path: string, entry: Dirent): Promise<boolean> {
  if (!entry.isDirectory()) return entry.isFile()
  for (const below of await readdir(path, { withFileTypes: true })) {
    if (!(await isPlain(join(path, below.name), below))) return false
  }
  return true
}
