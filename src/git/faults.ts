import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { runGit } from './command.ts'
import { GitError } from './error.ts'
import type { Repo } from './repo.ts'

/** Git holds a lock for moments, and the longest maintenance for minutes. */
const STALE_MS = 60 * 60 * 1000

export interface RepoFaults {
  /** What is wrong, one sentence each. */
  readonly faults: readonly string[]
  /** What was mended, one sentence each. */
  readonly mended: readonly string[]
}

export interface FaultOptions {
  /** The time now, in milliseconds. */
  readonly now: number
  /** Reads every object (`git fsck --full`), which takes as long as the repository is large. */
  readonly deep: boolean
  /** Removes what a crash left behind: lock files that nobody holds. */
  readonly mend: boolean
  readonly signal?: AbortSignal | undefined
}

/** Looks for what keeps a repository from working: left-over lock files, a bad HEAD, damaged objects. */
export async function findFaults(repo: Repo, options: FaultOptions): Promise<RepoFaults> {
  const faults = await headFaults(repo)
  const mended: string[] = []
  for (const lock of await staleLocks(repo.path, options.now)) {
    if (options.mend) {
      await rm(join(repo.path, lock), { force: true })
      mended.push(`removed the lock ${lock}`)
    } else faults.push(`the lock ${lock} is held by nobody`)
  }
  if (options.deep) faults.push(...(await objectFaults(repo, options.signal)))
  return { faults, mended }
}

async function headFaults(repo: Repo): Promise<string[]> {
  const head = await readFile(join(repo.path, 'HEAD'), 'utf8').catch(() => '')
  return head.startsWith('ref: refs/heads/') ? [] : ['HEAD names no branch']
}

async function staleLocks(path: string, now: number): Promise<string[]> {
  const entries = await readdir(path, { recursive: true }).catch(() => [])
  const stale: string[] = []
  for (const name of entries.filter((entry) => entry.endsWith('.lock'))) {
    const found = await stat(join(path, name)).catch(() => undefined)
    if (found?.isFile() && now - found.mtimeMs > STALE_MS) stale.push(name)
  }
  return stale
}

async function objectFaults(repo: Repo, signal: AbortSignal | undefined): Promise<string[]> {
  try {
    const args = ['fsck', '--full', '--no-dangling', '--no-progress']
    await runGit({ repo: repo.path, args, timeout: 0, signal })
    return []
  } catch (error) {
    if (!(error instanceof GitError) || signal?.aborted) throw error
    return [error.message]
  }
}
