import { runInWorker, WorkerLimitError } from '../../base/workers/worker-pool.ts'
import { ChangelogFailure } from './failure.ts'
import type { UserWork, UserWorkResult } from './user-work.ts'

/** Limit of docs/contract/B-resolved §1.8 rule 2. */
const timeoutMs = 2000

/** Runs a part of the changelog that works on a user's text in a worker thread, and ends it after two seconds. */
export async function runLimited<Name extends keyof UserWork>(
  name: Name,
  input: Parameters<UserWork[Name]>[0],
): Promise<ReturnType<UserWork[Name]>> {
  const module = new URL('./user-work.ts', import.meta.url)
  const result = await runInWorker<typeof input, UserWorkResult<ReturnType<UserWork[Name]>>>(
    input,
    { module, name, timeoutMs, isLong: true },
  ).catch((error: unknown) => {
    throw error instanceof WorkerLimitError ? new ChangelogFailure(reasons[error.limit]) : error
  })
  if ('failure' in result) throw new ChangelogFailure(result.failure)
  return result.value
}

const reasons = {
  time: 'The changelog configuration takes longer than 2 seconds',
  memory: 'The changelog configuration is too large',
  waiting: 'Too many changelogs are being made',
} as const
