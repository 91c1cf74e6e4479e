import type { OpenRepository } from './open-repository.ts'

/**
 * Light work answers in milliseconds and must never wait behind heavy work; streams are slow because
 * their readers are.
 */
export type Lane = 'light' | 'heavy' | 'stream'

/** What an operation holds while it runs. */
export interface Job {
  readonly repository: OpenRepository
  /** Fires when the caller goes away or time is up. Long loops look at it. */
  readonly signal: AbortSignal
  /** Sends a piece of a stream; resolves when the reader can take more. */
  emit(bytes: Uint8Array): Promise<void>
}

/** Something an engine process can do. Input and output are plain data that crosses processes. */
export interface Operation<Input, Output> {
  readonly name: string
  readonly lane: Lane | ((input: Input) => Lane)
  /** Inputs that the main process may try by itself first: quick, and read by our own readers (`in-process-reads.ts`). */
  readonly inProcess?: ((input: Input) => boolean) | undefined
  /** A write is never tried again when its process dies. */
  readonly writes?: boolean | undefined
  /** Seconds until it is given up, where the server's setting does not fit; waiting counts. */
  readonly seconds?: number | undefined
  readonly run: (job: Job, input: Input) => Promise<Output>
}

/** How busy the engine is, for whoever watches the service. */
export interface EngineLoad {
  readonly processes: number
  readonly running: number
  readonly waiting: Readonly<Record<Lane, number>>
  /** Bytes of all engine processes, as they last said. */
  readonly memory: number
}

/** Runs operations, in engine processes or (for tests) here. */
export interface Engine {
  run<Input, Output>(
    operation: Operation<Input, Output>,
    path: string,
    input: Input,
    signal?: AbortSignal,
    onChunk?: (bytes: Uint8Array) => Promise<void>,
  ): Promise<Output>
  /** The same engine for one caller, who has a share of it. */
  of(caller: string): Engine
  /** Forgets what is held open or cached of a repository: after maintenance or removal. */
  forget(path: string): void
  load(): EngineLoad
  close(): Promise<void>
}

/** What engine processes can do, by name. */
export const operations = new Map<string, Operation<never, unknown>>()

/** Declares an operation, for an engine process too when it loads the file (`operations.ts`). */
export function operation<Input, Output>(
  declared: Operation<Input, Output>,
): Operation<Input, Output> {
  operations.set(declared.name, declared)
  return declared
}

/** The lane of one call. */
export function laneOf<Input>(declared: Operation<Input, unknown>, input: Input): Lane {
  return typeof declared.lane === 'function' ? declared.lane(input) : declared.lane
}
