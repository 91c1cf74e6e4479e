import type { Project } from '../../access/subjects.ts'
import { existing, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { readLog } from '../../git/history/log.ts'
import { type Picked, pickOnto } from '../../git/merge/pick.ts'
import type { Repo } from '../../git/repo.ts'
import type { Commit, ObjectId } from '../../git/types.ts'
import { moveRefs } from '../refs/move-refs.ts'
import { onBranch } from '../repository/branch-queue.ts'
import { findTip } from '../repository/branch-tip.ts'
import { signerOf } from '../repository/signer.ts'
import { titleOf } from './entity.ts'
import { type MergeRequestLink, mergedAs } from './visible-introduced.ts'

export interface PickInput {
  readonly kind: 'cherry-pick' | 'revert'
  readonly commit: Commit
  readonly branch: string
  readonly message?: string | undefined
  readonly dryRun: boolean
}

/**
 * Puts a commit's change, or what takes it back, on a branch as a new commit, and gives its id; nothing
 * after a dry run (docs/contract/B-resolved §2.4). What can't be applied is 400 with an `error_code`.
 */
export function pickCommit(
  ctx: Ctx,
  project: Project,
  input: PickInput,
): Promise<ObjectId | undefined> {
  return onBranch(project, input.branch, () => tryPick(ctx, project, input))
}

async function tryPick(
  ctx: Ctx,
  project: Project,
  input: PickInput,
): Promise<ObjectId | undefined> {
  const repo = ctx.git.open(project.id)
  const tip = existing(await findTip(repo, input.branch), 'Branch')
  const mergeRequest = await mergedAs(ctx, project, input.commit.id)
  const picked = await apply(ctx, repo, input, tip, mergeRequest)
  if (picked.outcome !== 'clean') throw refusalOf(input, picked.outcome, mergeRequest)
  if (input.dryRun || picked.commitId === undefined) return undefined
  const move = { name: `refs/heads/${input.branch}`, oldId: tip, newId: picked.commitId }
  await moveRefs(ctx, project, { via: 'api', moves: [move] })
  return picked.commitId
}

async function apply(
  ctx: Ctx,
  repo: Repo,
  input: PickInput,
  onto: ObjectId,
  mergeRequest: MergeRequestLink | undefined,
): Promise<Picked> {
  const caller = signerOf(ctx)
  return await pickOnto(repo, {
    kind: input.kind,
    commit: input.commit.id,
    onto,
    // A picked commit stays its author's, with the date; taking one back is the caller's own work.
    author: input.kind === 'cherry-pick' ? input.commit.author : caller,
    committer: caller,
    message: await messageOf(repo, input, mergeRequest),
    dryRun: input.dryRun,
  })
}

async function messageOf(
  repo: Repo,
  { kind, commit, message }: PickInput,
  mergeRequest: MergeRequestLink | undefined,
): Promise<string> {
  if (kind === 'revert') {
    const what = mergeRequest ? `merge request !${mergeRequest.iid}` : `commit ${commit.id}`
    return `Revert "${titleOf(commit)}"\n\nThis reverts ${what}`
  }
  if (message !== undefined && message.trim() !== '') return message
  const origin = `${commit.message.trimEnd()}\n\n(cherry picked from commit ${commit.id})`
  const merged = await mergedCommits(repo, commit)
  if (merged.length === 0) return origin
  const lines = merged.map((each) => `${each.id.slice(0, 8)} ${titleOf(each)}`)
  return `${origin}\n\n${lines.join('\n')}`
}

/** More would make the message longer than anybody reads. */
const MOST_LISTED = 100

/** What a merge commit brought in, oldest first. */
async function mergedCommits(repo: Repo, commit: Commit): Promise<readonly Commit[]> {
  const [first, ...others] = commit.parentIds
  if (first === undefined || others.length === 0) return []
  const revision = `${first}..${commit.id}`
  const { commits } = await readLog(repo, { revision, limit: MOST_LISTED + 1 })
  return commits.filter((each) => each.id !== commit.id).toReversed()
}

function refusalOf(
  input: PickInput,
  code: 'empty' | 'conflict',
  mergeRequest: MergeRequestLink | undefined,
): Problem {
  const { kind } = input
  const noun = mergeRequest ? 'merge request' : 'commit'
  const done = kind === 'revert' ? 'reverted' : 'cherry-picked'
  const message = `Sorry, we cannot ${kind} this ${noun} automatically. This ${noun} may already have been ${done}, or a more recent commit may have updated some of its content.`
  const body = { message, error_code: code, ...(input.dryRun ? { dry_run: 'error' } : {}) }
  return new Problem('bad_request', 400, body)
}
