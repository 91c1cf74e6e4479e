import { unprocessable } from '../../base/problem.ts'
import { runInWorker, WorkerLimitError } from '../../base/workers/worker-pool.ts'
import { type OwnedFiles, ownedBy, parseCodeOwners } from './code-owners.ts'
import type { OwnersWork } from './owned-files.ts'

const LONGEST_MS = 5000
/** Characters of the file times those of the paths that are compared at once, in a millisecond or two. */
const QUICK = 20_000

/** The entries of a file of code owners that changed paths fall under. */
export async function compareWithOwners(
  work: OwnersWork,
  caller: string | undefined,
): Promise<OwnedFiles[]> {
  const characters = work.paths.reduce((sum, path) => sum + path.length + 1, 0)
  if (work.text.length * characters <= QUICK) {
    return ownedBy(parseCodeOwners(work.text), work.paths)
  }
  try {
    return await runInWorker<OwnersWork, OwnedFiles[]>(work, {
      module: new URL('./owned-files.ts', import.meta.url),
      name: 'ownedFiles',
      timeoutMs: LONGEST_MS,
      isLong: true,
      caller,
    })
  } catch (error) {
    if (!(error instanceof WorkerLimitError)) throw error
    throw unprocessable(reasons[error.limit])
  }
}

const reasons = {
  time: 'The file of code owners takes too long to compare with the changed files.',
  memory: 'The file of code owners is too large for the changed files.',
  waiting: 'Too many files of code owners are being compared.',
} as const
