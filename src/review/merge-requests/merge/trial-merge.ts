import { invalidText } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { writeMerge } from '../../../git/merge/merge.ts'
import { readCommits } from '../../../git/objects/commit.ts'
import { findRef } from '../../../git/refs/refs.ts'
import type { Repo } from '../../../git/repo.ts'
import { placeOwnRef } from '../../../repositories/refs/own-refs.ts'
import { branchHead, bringHead, trialRef } from '../branch-heads.ts'
import type { MergeRequestRow } from '../row.ts'

const refused = () => invalidText('Merge request is not mergeable')

/** Points `refs/merge-requests/:iid/merge` at a merge of the two heads; the same one while they stay (docs/contract/D §3.5). */
export async function buildTrialMerge(ctx: Ctx, row: MergeRequestRow): Promise<string> {
  if (row.state !== 'opened') throw refused()
  const source = await bringHead(ctx, row)
  const target = await branchHead(ctx, row.target_project_id, row.target_branch)
  if (source === undefined || target === undefined) throw refused()
  const repo = ctx.git.open(row.target_project_id)
  const known = await currentTrial(repo, row, [target, source])
  if (known !== undefined) return known
  const robot = { name: 'Gitstead', email: 'noreply@localhost', date: ctx.now() }
  const merged = await writeMerge(repo, {
    ours: target,
    theirs: source,
    author: robot,
    committer: robot,
    message: `Merge ${source} into ${target}`,
  })
  if (merged.outcome !== 'clean') throw refused()
  await placeOwnRef(repo, trialRef(row), merged.commitId)
  return merged.commitId
}

async function currentTrial(
  repo: Repo,
  row: MergeRequestRow,
  parents: readonly string[],
): Promise<string | undefined> {
  const ref = await findRef(repo, trialRef(row))
  const [commit] = ref ? await readCommits(repo, [ref.id]) : []
  return commit?.parentIds.join() === parents.join() ? commit.id : undefined
}
