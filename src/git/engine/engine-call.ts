import type { Repo } from '../repo.ts'
import type { Operation } from './operation.ts'

/** The function that has an operation done in an engine. */
export function engineCall<Input, Output>(declared: Operation<Input, Output>) {
  return (repo: Repo, input: Input, signal?: AbortSignal): Promise<Output> =>
    repo.engine.run(declared, repo.path, input, signal)
}
