import { KeyedSemaphore } from '../../base/semaphore.ts'

/**
 * Commits to one branch are made one after the other: whoever waits need not begin anew, as they must when a push was
 * faster. The key is the project's id and the branch.
 */
export const branchQueue = new KeyedSemaphore({ limit: 1 })
