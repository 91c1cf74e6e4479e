import { GitError } from '../error.ts'
import { NeedsEngine } from './needs-engine.ts'
import { OpenRepositories } from './open-repository.ts'
import type { Operation } from './operation.ts'

/** Repositories that the main process keeps open for what it reads itself. */
const kept = 32
/** What an engine process would say too: about what was asked, not about how it was read. */
const final = new Set(['not_found', 'invalid', 'too_large'])

/**
 * Answers small reads in this process: the way to an engine process and back takes several times as long as the
 * read itself. Only our own readers work here. Whatever needs native code, a program, a walk through the history
 * or much memory throws `NeedsEngine`, and then an engine process does it; so does one after any failure.
 */
export class InProcessReads {
  readonly #repositories = new OpenRepositories(kept, 'in process')

  /** The answer, in a box; undefined when an engine process must be asked. */
  async read<Input, Output>(
    operation: Operation<Input, Output>,
    path: string,
    input: Input,
    signal: AbortSignal,
  ): Promise<{ readonly value: Output } | undefined> {
    const repository = this.#repositories.get(path)
    try {
      return { value: await operation.run({ repository, signal, emit }, input) }
    } catch (error) {
      if (error instanceof GitError && final.has(error.code)) throw error
      return undefined
    }
  }

  forget(path: string): void {
    this.#repositories.forget(path)
  }
}

async function emit(): Promise<void> {
  throw new NeedsEngine('a stream')
}
