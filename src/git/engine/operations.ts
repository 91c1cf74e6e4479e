import { archiveOperation } from '../archive/archive.ts'
import { listChangedPathsOperation } from '../diff/changed-paths.ts'
import { readCommitStatsOperation } from '../diff/commit-stats.ts'
import { compareOperation } from '../diff/compare.ts'
import {
  readCommitDiffOperation,
  readDiffOperation,
  readPrintedDiffOperation,
} from '../diff/diff.ts'
import { readBlameOperation } from '../history/blame.ts'
import {
  listMergedAmongOperation,
  listRefsContainingOperation,
  readReachOperation,
} from '../history/contains.ts'
import { countLinesOperation, listAuthorsOperation } from '../history/contributors.ts'
import { countCommitsOperation } from '../history/count.ts'
import { readLogOperation } from '../history/log.ts'
import {
  countAheadBehindOperation,
  findMergeBasesOperation,
  isAncestorOperation,
} from '../history/merge-base.ts'
import { inspectRepositoryOperation } from '../maintenance/maintenance.ts'
import { checkMergeOperation, rebaseOperation, writeMergeOperation } from '../merge/merge.ts'
import { pickOperation } from '../merge/pick.ts'
import {
  emitBlobOperation,
  hashBlobOperation,
  openBlobOperation,
  readBlobOperation,
} from '../objects/blob.ts'
import { checkSignatureOperation } from '../objects/check-signature.ts'
import { readCommitOperation, readCommitsOperation } from '../objects/commit.ts'
import { readContentOperation, readFileOperation } from '../objects/file.ts'
import { resolveRevisionOperation } from '../objects/revision.ts'
import { readSignatureOperation } from '../objects/signature.ts'
import {
  findTreeEntryOperation,
  readTreeOperation,
  readWholeTreeOperation,
} from '../objects/tree.ts'
import { listBranchesOperation } from '../refs/branches.ts'
import { findRefOperation, listRefsOperation, readHeadOperation } from '../refs/refs.ts'
import { findTagOperation, listTagsOperation } from '../refs/tags.ts'
import { moveRefOperation } from '../refs/update-refs.ts'
import { isConnectedOperation } from '../transfer/connectivity.ts'
import { writeCommitOperation } from '../write/write-commit.ts'
import { writeTagOperation } from '../write/write-tag.ts'
import type { Operation } from './operation.ts'

/** Everything an engine process can do. A new operation is added to this list. */
const all: readonly Operation<never, unknown>[] = [
  archiveOperation,
  inspectRepositoryOperation,
  countLinesOperation,
  listAuthorsOperation,
  readBlameOperation,
  readSignatureOperation,
  checkSignatureOperation,
  listBranchesOperation,
  findRefOperation,
  listRefsOperation,
  readHeadOperation,
  findTagOperation,
  listTagsOperation,
  listChangedPathsOperation,
  compareOperation,
  readCommitDiffOperation,
  readDiffOperation,
  readPrintedDiffOperation,
  readCommitStatsOperation,
  listMergedAmongOperation,
  readReachOperation,
  listRefsContainingOperation,
  countCommitsOperation,
  readFileOperation,
  readContentOperation,
  countAheadBehindOperation,
  findMergeBasesOperation,
  isAncestorOperation,
  isConnectedOperation,
  checkMergeOperation,
  moveRefOperation,
  pickOperation,
  rebaseOperation,
  writeCommitOperation,
  writeMergeOperation,
  writeTagOperation,
  findTreeEntryOperation,
  hashBlobOperation,
  openBlobOperation,
  emitBlobOperation,
  readBlobOperation,
  readCommitOperation,
  readCommitsOperation,
  readLogOperation,
  readTreeOperation,
  readWholeTreeOperation,
  resolveRevisionOperation,
]

/** The operations by name. */
export const operations: ReadonlyMap<string, Operation<never, unknown>> = new Map(
  all.map((declared) => [declared.name, declared]),
)
