import { readBlobOperation } from '../blob.ts'
import type { Operation } from './operation.ts'

/** Everything an engine process can do. A new operation is added to this list. */
const all: readonly Operation<never, unknown>[] = [readBlobOperation]

/** The operations by name. */
export const operations: ReadonlyMap<string, Operation<never, unknown>> = new Map(
  all.map((declared) => [declared.name, declared]),
)
