import type { Repo } from '../repo.ts'
import { type Operation, operation } from './operation.ts'

/** Declares an operation, and gives the function that has it done in an engine. */
export function engineCall<Input, Output>(what: Operation<Input, Output>) {
  const declared = operation(what)
  return (repo: Repo, input: Input, signal?: AbortSignal): Promise<Output> =>
    repo.engine.run(declared, repo.path, input, signal)
}
