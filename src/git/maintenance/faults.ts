import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runGit } from '../command.ts'
import { GitError } from '../error.ts'
import type { Repo } from '../repo.ts'
import { findLeftOvers, removeLeftOvers } from './left-over.ts'

export interface RepoFaults {
  /** What is wrong, one sentence each. */
  readonly faults: readonly string[]
  /** What was mended, one sentence each. */
  readonly mended: readonly string[]
}

export interface FaultOptions {
  /** Reads every object (`git fsck --full`), which takes as long as the repository is large. */
  readonly deep: boolean
  /** Removes what a crash left behind: locks and temporary files whose process is gone. */
  readonly mend: boolean
  readonly signal?: AbortSignal | undefined
}

/** Looks for what keeps a repository from working: left-over lock files, a bad HEAD, damaged objects. */
export async function findFaults(repo: Repo, options: FaultOptions): Promise<RepoFaults> {
  const faults = await headFaults(repo)
  const mended: string[] = []
  if (options.mend) {
    const removed = await removeLeftOvers(repo.path)
    mended.push(...removed.map((name) => `removed ${name}, whose process is gone`))
  } else {
    const left = await findLeftOvers(repo.path)
    faults.push(...left.map((name) => `${name} is left over by a process that is gone`))
  }
  if (options.deep) faults.push(...(await objectFaults(repo, options.signal)))
  return { faults, mended }
}

async function headFaults(repo: Repo): Promise<string[]> {
  const head = await readFile(join(repo.path, 'HEAD'), 'utf8').catch(() => '')
  return head.startsWith('ref: refs/heads/') ? [] : ['HEAD names no branch']
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
