import { actAs } from '../../../access/act-as.ts'
import { userOf } from '../../../access/actor.ts'
import { findProjectWithRole, type Project } from '../../../access/subjects.ts'
import { runEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import { type ChangedPath, listChangedPaths } from '../../../git/diff/changed-paths.ts'
import { readLog } from '../../../git/history/log.ts'
import { readCommit } from '../../../git/objects/commit.ts'
import type { Commit, ObjectId } from '../../../git/types.ts'
import { titleOf } from '../../../repositories/commits/entity.ts'
import { placeOwnRef } from '../../../repositories/refs/own-refs.ts'
import { ifFound } from '../../../repositories/repository/missing.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { readOwnedFiles, saveCodeOwnerRules } from '../../approval-rules/code-owner-rules.ts'
import type { OwnedFiles } from '../../approval-rules/code-owners.ts'
import { resetApprovals } from '../../approval-rules/reset.ts'
import { branchHead, bringHead } from '../branch-heads.ts'
import { diffChangedJob } from '../jobs.ts'
import { noteClosingIssues } from '../links/closing-issues.ts'
import { cancelAutoMerge } from '../merge/auto-merge.ts'
import { forgetLostApprovals } from '../people/queries.ts'
import { mergeRequestUrl } from '../present.ts'
import {
  findById,
  findLatestVersion,
  insertVersion,
  listVersions,
  touchMergeRequest,
  updateMergeRequest,
} from '../queries.ts'
import { noteChange } from '../record.ts'
import type { MergeRequestRow, VersionRow } from '../row.ts'
import { saveCommits, saveCommitters } from './committer-queries.ts'
import { saveTracedNotes, type TracedNote, traceNotes } from './trace-notes.ts'
import { type Snapshot, takeSnapshot } from './versions.ts'

/**
 * Brings a merge request up to date with its branches: keeps the head, adds a version when it is new, and does what
 * follows from new commits. Done again for the same heads it changes nothing.
 */
export async function refreshMergeRequest(
  given: Ctx,
  id: number,
  cause: { readonly userId: number | null; readonly anew: boolean },
  signal?: AbortSignal,
): Promise<void> {
  const ctx = await actAs(given, cause.userId)
  const row = await findById(ctx.db, id)
  if (row?.state !== 'opened') return
  const project = await findProjectWithRole(ctx, row.target_project_id)
  if (!project) return
  const tip = await bringHead(ctx, row)
  const head = (await findOpenedHead(ctx, row, tip)) ?? tip
  const start = await branchHead(ctx, row.target_project_id, row.target_branch)
  const latest = await findLatestVersion(ctx.db, id)
  // Also where only the flag says so: whoever merges right after a change of target does not wait for its task.
  const anew = cause.anew || row.approvals_syncing === 1
  const isNew = latest?.head_sha !== head || (anew && latest?.start_sha !== start)
  const news =
    head !== undefined && start !== undefined && (isNew || anew)
      ? await readNews(ctx, row, latest, { head, start }, signal)
      : undefined
  const overtaken = await inTransaction(ctx, async (ctx) => {
    const now = await findById(ctx.db, id)
    if (now?.head_sha !== row.head_sha || now?.target_branch !== row.target_branch) return true
    // Two tasks may be at it at once, of a push and of the merge request that it opened.
    if (news && (await findLatestVersion(ctx.db, id))?.id !== latest?.id) return true
    await updateMergeRequest(ctx.db, id, {
      ...(row.prepared_at === null ? { prepared_at: ctx.now(), merge_status: 'unchecked' } : {}),
      // A closed merge request does not follow its branch.
      head_sha: head,
      approvals_syncing: false,
      // It was about other commits.
      ...(news ? { merge_error: null } : {}),
    })
    if (news && isNew) await addVersion(ctx, project, row, latest, news)
    else if (news) await noteClosingIssues(ctx, row, messagesOf(news.snapshot))
    return false
  })
  const isBehind =
    row.prepared_at === null &&
    row.source_project_id !== null &&
    (await branchHead(ctx, row.source_project_id, row.source_branch)) !== head
  if (overtaken || isBehind) await refreshMergeRequest(given, id, cause, signal)
}

/**
 * The head that a merge request was opened with, when there were pushes before anything was done for it: they are pushes
 * like any other, which take approvals and are announced. Undefined where a forced push to a fork left nothing of it.
 */
async function findOpenedHead(
  ctx: Ctx,
  row: MergeRequestRow,
  tip: ObjectId | undefined,
): Promise<ObjectId | undefined> {
  const { prepared_at: preparedAt, head_sha: opened } = row
  if (preparedAt !== null || opened === null || tip === undefined || opened === tip)
    return undefined
  return (await ifFound(readCommit(ctx.git.open(row.target_project_id), opened)))?.id
}

interface News {
  readonly snapshot: Snapshot
  /** Commits that the version before did not have, newest first. */
  readonly added: readonly Commit[]
  readonly owned: readonly OwnedFiles[]
  readonly touched: readonly OwnedFiles[]
  readonly traced: readonly TracedNote[]
}

/** Everything that git knows about a new head. */
async function readNews(
  ctx: Ctx,
  row: MergeRequestRow,
  latest: VersionRow | undefined,
  { head, start }: { readonly head: ObjectId; readonly start: ObjectId },
  signal?: AbortSignal,
): Promise<News | undefined> {
  const projectId = row.target_project_id
  const snapshot = await takeSnapshot(ctx, projectId, head, start, signal)
  if (!snapshot) return undefined
  await keepAround(ctx, projectId, [head, start])
  const owned = await readOwnedFiles(ctx, projectId, start, namesOf(snapshot.paths))
  if (!latest) return { snapshot, added: [], owned, touched: owned, traced: [] }
  const repo = ctx.git.open(projectId)
  const before = latest.head_sha
  const log = await readLog(repo, { revision: `${before}..${head}`, limit: 1000 }, signal)
  const own = new Set(snapshot.commits.map((commit) => commit.id))
  const changed = await listChangedPaths(repo, before, head, signal)
  const touched = await readOwnedFiles(ctx, projectId, start, namesOf(changed))
  const traced = await traceNotes(ctx, row, latest, snapshot)
  return { snapshot, added: log.commits.filter((one) => own.has(one.id)), owned, touched, traced }
}

/** A forced push must not take away what older versions show (docs/contract/D §3.5). */
async function keepAround(ctx: Ctx, projectId: number, ids: readonly ObjectId[]): Promise<void> {
  const repo = ctx.git.open(projectId)
  for (const id of ids) await placeOwnRef(repo, `refs/keep-around/${id}`, id)
}

function namesOf(paths: readonly ChangedPath[]): string[] {
  return [...new Set(paths.flatMap(({ oldPath, newPath }) => [oldPath, newPath]))]
}

function messagesOf({ commits }: Snapshot): string[] {
  return commits.map((commit) => commit.message)
}

async function addVersion(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  latest: VersionRow | undefined,
  { snapshot, added, owned, touched, traced }: News,
): Promise<void> {
  const { head, base, start, commits, patchId } = snapshot
  await insertVersion(ctx.db, {
    merge_request_id: row.id,
    head_sha: head,
    base_sha: base,
    start_sha: start,
    real_size: snapshot.paths.length,
    patch_id: patchId,
    created_at: ctx.now(),
  })
  const emails = commits.map((commit) => commit.committer.email)
  await saveCommitters(ctx.db, row.id, emails)
  const ids = commits.map((commit) => commit.id)
  await saveCommits(ctx.db, row.id, ids)
  await noteClosingIssues(ctx, row, messagesOf(snapshot))
  await resetApprovals(ctx, row, {
    head,
    patchBefore: latest?.patch_id ?? null,
    patchAfter: patchId,
    touched,
  })
  await forgetLostApprovals(ctx.db, row.id)
  await saveCodeOwnerRules(ctx, row, owned)
  const user_id = userOf(ctx.actor)?.id ?? null
  await ctx.work.enqueue(ctx.db, diffChangedJob, { id: row.id, user_id, head_sha: head })
  if (!latest) return
  const { length } = await listVersions(ctx.db, row.id)
  await saveTracedNotes(ctx, project, row, traced, length)
  await cancelAutoMerge(ctx, project, row, 'the source branch was updated')
  await touchMergeRequest(ctx.db, row.id, ctx.now())
  const change = { project, id: row.id, action: 'update', oldrev: latest.head_sha } as const
  await runEffects(ctx, ctx.effects.mergeRequestChanged, change)
  if (added.length > 0) {
    await noteChange(ctx, project, row, 'commit', addedNote(ctx, row, added))
  }
}

const mostListed = 100

/** `added 2 commits` with a list of them, oldest first (docs/contract/B-resolved §11.3). */
function addedNote(ctx: Ctx, row: MergeRequestRow, commits: readonly Commit[]): string {
  const lines = commits
    .slice(0, mostListed)
    .reverse()
    .map((commit) => `* ${commit.id.slice(0, 8)} - ${titleOf(commit)}`)
  const count = commits.length === 1 ? '1 commit' : `${commits.length} commits`
  const compare = `[Compare with previous version](${mergeRequestUrl(ctx, row)}/diffs)`
  return `added ${count}\n\n${lines.join('\n')}\n\n${compare}`
}
