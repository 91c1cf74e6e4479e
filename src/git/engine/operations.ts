import { archiveOperation } from '../archive.ts'
import { readBlameOperation } from '../blame.ts'
import { hashBlobOperation, openBlobOperation, readBlobOperation } from '../blob.ts'
import { listBranchesOperation } from '../branches.ts'
import { readChangelogCommitsOperation } from '../changelog-commits.ts'
import { checkSignatureOperation } from '../check-signature.ts'
import { cherryPickOperation } from '../cherry-pick.ts'
import { readCommitOperation, readCommitsOperation } from '../commit.ts'
import { readCommitStatsOperation } from '../commit-stats.ts'
import { compareOperation } from '../compare.ts'
import { isConnectedOperation } from '../connectivity.ts'
import {
  listMergedAmongOperation,
  listMergedRefsOperation,
  listRefsContainingOperation,
  readReachOperation,
} from '../contains.ts'
import { countLinesOperation, listAuthorsOperation } from '../contributors.ts'
import { countCommitsOperation } from '../count.ts'
import { readCommitDiffOperation, readDiffOperation, readPrintedDiffOperation } from '../diff.ts'
import { readFileOperation } from '../file.ts'
import { findLastCommitOperation, readLastCommitsOperation } from '../last-commits.ts'
import { readLogOperation } from '../log.ts'
import { inspectRepositoryOperation } from '../maintenance.ts'
import { checkMergeOperation, rebaseOperation, writeMergeOperation } from '../merge.ts'
import {
  countAheadBehindOperation,
  findMergeBasesOperation,
  isAncestorOperation,
} from '../merge-base.ts'
import { findRefOperation, listRefsOperation, readHeadOperation } from '../refs.ts'
import { revertOperation } from '../revert.ts'
import { resolveRevisionOperation } from '../revision.ts'
import { readSignatureOperation } from '../signature.ts'
import { findTagOperation, listTagsOperation } from '../tags.ts'
import { findTreeEntryOperation, readTreeOperation, readWholeTreeOperation } from '../tree.ts'
import { moveRefOperation } from '../update-refs.ts'
import { writeCommitOperation } from '../write-commit.ts'
import { writeTagOperation } from '../write-tag.ts'
import type { Operation } from './operation.ts'

/** Everything an engine process can do. A new operation is added to this list. */
const all: readonly Operation<never, unknown>[] = [
  readChangelogCommitsOperation,
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
  compareOperation,
  readCommitDiffOperation,
  readDiffOperation,
  readPrintedDiffOperation,
  readCommitStatsOperation,
  listMergedRefsOperation,
  listMergedAmongOperation,
  readReachOperation,
  listRefsContainingOperation,
  countCommitsOperation,
  readFileOperation,
  findLastCommitOperation,
  readLastCommitsOperation,
  countAheadBehindOperation,
  findMergeBasesOperation,
  isAncestorOperation,
  isConnectedOperation,
  checkMergeOperation,
  cherryPickOperation,
  moveRefOperation,
  rebaseOperation,
  revertOperation,
  writeCommitOperation,
  writeMergeOperation,
  writeTagOperation,
  findTreeEntryOperation,
  hashBlobOperation,
  openBlobOperation,
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
