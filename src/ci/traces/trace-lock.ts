import { KeyedSemaphore } from '../../base/semaphore.ts'

const locks = new KeyedSemaphore({ limit: 1 })

/** Does work on the log of one job while nobody else does. */
export function withTrace<T>(jobId: number, work: () => Promise<T>): Promise<T> {
  return locks.run(String(jobId), work)
}
