import { OpenRepositories } from '../engine/open-repository.ts'
import type { Engine, EngineLoad, Operation } from '../engine/operation.ts'
import { GitError } from '../error.ts'

/** Runs operations in this process: for tests, and for commands that need no containment. */
export class InProcessEngine implements Engine {
  readonly #repositories = new OpenRepositories()

  async run<Input, Output>(
    operation: Operation<Input, Output>,
    path: string,
    input: Input,
    signal?: AbortSignal,
    onChunk?: (bytes: Uint8Array) => Promise<void>,
  ): Promise<Output> {
    if (signal?.aborted) throw new GitError('timeout', 'the caller went away')
    const time = AbortSignal.timeout((operation.seconds ?? 60) * 1000)
    const stop = signal ? AbortSignal.any([signal, time]) : time
    const repository = this.#repositories.get(path)
    const emit = async (bytes: Uint8Array) => onChunk?.(bytes)
    return await operation.run({ repository, signal: stop, emit }, input)
  }

  of(): Engine {
    return this
  }

  forget(path: string): void {
    this.#repositories.forget(path)
  }

  load(): EngineLoad {
    return { processes: 0, running: 0, waiting: { light: 0, heavy: 0, stream: 0 }, memory: 0 }
  }

  async close(): Promise<void> {}
}
