import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { actAs } from '../../access/act-as.ts'
import { getVisibleProject, type Project } from '../../access/subjects.ts'
import { invalidText } from '../../base/problem.ts'
import { ownedName } from '../../base/process-mark.ts'
import type { Ctx } from '../../ctx.ts'
import { isAncestorOf } from '../../git/history/merge-base.ts'
import { readRefValues } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import type { Imported } from '../../git/transfer/import.ts'
import type { Ref } from '../../git/types.ts'
import { saveImportedBranch } from '../../projects/projects/create/import-state.ts'
import { refreshFacts } from '../../projects/projects/facts/measure.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { moveRefs } from '../refs/move-refs.ts'
import { branchOf, type RefMove } from '../refs/moves.ts'
import { fetchWithinRoom } from '../size-limit/fetch.ts'
import { mayFollow } from './access.ts'
import { openAddress } from './address.ts'
import { chooseRefs } from './choose-branches.ts'
import type { PullMirrorRow } from './pull-queries.ts'

/** Brings a project to where the repository is that it follows. What was deleted there stays here. */
export async function pullMirror(
  given: Ctx,
  projectId: number,
  mirror: PullMirrorRow,
  signal: AbortSignal,
): Promise<void> {
  const ctx = await actAs(given, mirror.user_id)
  if (mirror.user_id === null || !(await mayFollow(ctx, projectId)))
    throw invalidText('Whoever set this mirror up may not change the project any more')
  const repo = ctx.git.open(projectId)
  const scratch = join(ctx.config.data, 'tmp', ownedName('mirror-'))
  try {
    const source = { url: openAddress(ctx, 'pull', mirror) }
    const before = await getVisibleProject(given, String(projectId))
    const imported = await fetchWithinRoom(ctx, before, source, {
      scratch,
      outbound: ctx.outbound,
      proxy: ctx.config.outboundProxy,
      known: repo,
      signal,
    })
    await imported.fetched.moveInto(repo)
    // Somebody may have renamed or changed the project since it began.
    const project = await getVisibleProject(given, String(projectId))
    await takeRefs(ctx, project, repo, imported, mirror)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function takeRefs(
  ctx: Ctx,
  project: Project,
  repo: Repo,
  { head, fetched }: Imported,
  mirror: PullMirrorRow,
): Promise<void> {
  if (head.branch !== undefined && project.empty_repo === 1)
    await saveImportedBranch(ctx, project.id, head.branch)
  const chosen = await chooseRefs(
    ctx,
    project,
    {
      onlyProtected: projectSetting(project, 'only_mirror_protected_branches'),
      regex: mirror.mirror_branch_regex,
    },
    fetched.refs.map((ref) => ref.name),
  )
  const overwrites = projectSetting(project, 'mirror_overwrites_diverged_branches')
  const wanted = fetched.refs.filter((ref) => chosen.has(ref.name))
  const moves = await movesTo(repo, wanted, overwrites)
  if (moves.length === 0) return
  const options = projectSetting(project, 'mirror_trigger_builds') ? [] : ['ci.skip']
  await moveRefs(ctx, project, { via: 'system', moves, options })
  await refreshFacts(ctx, project.id)
}

/** A branch that has parted from the one over there moves only where that is wished for; a tag is what it is there. */
async function movesTo(
  repo: Repo,
  wanted: readonly Ref[],
  overwrites: boolean,
): Promise<RefMove[]> {
  const names = wanted.map((ref) => ref.name)
  const here = await readRefValues(repo, names)
  const moves: RefMove[] = []
  for (const { name, id: newId } of wanted) {
    const oldId = here.get(name)
    if (oldId === newId) continue
    const keeps = oldId !== undefined && branchOf(name) !== undefined && !overwrites
    if (keeps && !(await isAncestorOf(repo, oldId, newId))) continue
    moves.push({ name, oldId: oldId ?? '0'.repeat(newId.length), newId })
  }
  return moves
}
