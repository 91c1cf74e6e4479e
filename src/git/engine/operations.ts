import { hashBlobOperation, openBlobOperation, readBlobOperation } from '../blob.ts'
import { readCommitOperation, readCommitsOperation } from '../commit.ts'
import { resolveRevisionOperation } from '../revision.ts'
import { findTreeEntryOperation, readTreeOperation } from '../tree.ts'
import type { Operation } from './operation.ts'

/** Everything an engine process can do. A new operation is added to this list. */
const all: readonly Operation<never, unknown>[] = [
  findTreeEntryOperation,
  hashBlobOperation,
  openBlobOperation,
  readBlobOperation,
  readCommitOperation,
  readCommitsOperation,
  readTreeOperation,
  resolveRevisionOperation,
]

/** The operations by name. */
export const operations: ReadonlyMap<string, Operation<never, unknown>> = new Map(
  all.map((declared) => [declared.name, declared]),
)
