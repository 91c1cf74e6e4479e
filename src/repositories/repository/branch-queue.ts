import { KeyedSemaphore } from '../../base/semaphore.ts'
import { GitError } from '../../git/error.ts'

/** How often something is tried on a branch that others move meanwhile. */
export const ATTEMPTS = 6

/**
 * Commits to one branch are made one after the other: whoever waits need not begin anew, as they must when a push was
 * faster. The key is the project's id and the branch.
 */
const branchQueue = new KeyedSemaphore({ limit: 1 })

/** Commits to a branch, and again on top of what somebody else put there meanwhile. */
export function onBranch<T>(
  project: { readonly id: number },
  branch: string,
  commit: () => Promise<T>,
): Promise<T> {
  return branchQueue.run(`${project.id} ${branch}`, () => retryWhenOvertaken(commit))
}

/** Does something again as long as somebody else was faster, so many times at most. */
export async function retryWhenOvertaken<T>(
  act: () => Promise<T>,
  isOvertaken: (error: unknown) => boolean = isMovedMeanwhile,
  attempts = ATTEMPTS,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act()
    } catch (error) {
      if (!isOvertaken(error) || attempt === attempts) throw error
    }
  }
}

function isMovedMeanwhile(error: unknown): boolean {
  return error instanceof GitError && (error.code === 'stale' || error.code === 'locked')
}
