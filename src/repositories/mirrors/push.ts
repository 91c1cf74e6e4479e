import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { listMergedAmong } from '../../git/history/contains.ts'
import { findCommits } from '../../git/objects/look-ups.ts'
import { listRefs } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import { pushRefs, type RefToPush, type RejectedRef } from '../../git/transfer/push-refs.ts'
import { listRemoteRefs, openRemote } from '../../git/transfer/remote.ts'
import type { Ref } from '../../git/types.ts'
import { openAddress } from './address.ts'
import { chooseRefs } from './choose-branches.ts'
import type { RemoteMirrorRow } from './queries.ts'

/** Brings another server's branches and tags to where the project's are; gives those that it did not take. */
export async function pushMirror(
  ctx: Ctx,
  project: Project,
  mirror: RemoteMirrorRow,
  signal: AbortSignal,
): Promise<readonly RejectedRef[]> {
  const repo = ctx.git.open(project.id)
  const source = { url: openAddress(ctx, 'push', mirror) }
  const options = { outbound: ctx.outbound, proxy: ctx.config.outboundProxy, signal }
  const remote = await openRemote(source, 'git-receive-pack', options)
  const there = await listRemoteRefs(remote, signal)
  const here = [
    ...(await listRefs(repo, { prefix: 'refs/heads/' }, signal)),
    ...(await listRefs(repo, { prefix: 'refs/tags/' }, signal)),
  ]
  const names = new Set(here.map((ref) => ref.name))
  const onlyThere = there.filter((ref) => !names.has(ref.name))
  const chosen = await chooseRefs(
    ctx,
    project,
    {
      onlyProtected: mirror.only_protected_branches === 1,
      regex: mirror.mirror_branch_regex,
    },
    [...names, ...onlyThere.map((ref) => ref.name)],
  )
  const changed = changedRefs(here.filter(isIn(chosen)), there, mirror.keep_divergent_refs === 0)
  const gone = onlyThere.filter(isIn(chosen))
  const tip = here.find((ref) => ref.name === `refs/heads/${project.default_branch}`)
  const merged = await mergedRefs(repo, gone, tip, signal)
  return await pushRefs(repo, remote, [...changed, ...merged], signal)
}

function isIn(chosen: ReadonlySet<string>) {
  return (ref: Ref) => chosen.has(ref.name)
}

function changedRefs(here: readonly Ref[], there: readonly Ref[], force: boolean): RefToPush[] {
  const known = new Map(there.map((ref) => [ref.name, ref.id]))
  return here
    .filter((ref) => known.get(ref.name) !== ref.id)
    .map(({ name, id }) => ({ name, id, force }))
}

/** Of refs that only the other server has, those whose work is in the default branch: they were deleted here. */
async function mergedRefs(
  repo: Repo,
  gone: readonly Ref[],
  tip: Ref | undefined,
  signal: AbortSignal,
): Promise<RefToPush[]> {
  if (tip === undefined || gone.length === 0) return []
  const asked = gone.map((ref) => [{ name: ref.id }])
  const commits = await findCommits(repo, asked, signal)
  const ids = commits.filter((id) => id !== undefined)
  const merged = await listMergedAmong(repo, { into: tip.id, ids }, signal)
  return gone
    .filter((_, at) => merged.has(commits[at] ?? ''))
    .map(({ name }) => ({ name, id: undefined, force: true }))
}
