import { withProjectRole } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { readRefValues } from '../../git/refs/refs.ts'
import type { Fetched } from '../../git/transfer/fetch-whole.ts'
import { saveImportedBranch } from '../../projects/projects/create/import-state.ts'
import { refreshFacts } from '../../projects/projects/facts/measure.ts'
import { findProjectRow } from '../../projects/projects/list/queries.ts'
import { moveRefs } from '../refs/move-refs.ts'

/** Moves a repository that was fetched and checked into a project's own. May be done again after a crash. */
export async function fillRepository(
  ctx: Ctx,
  projectId: number,
  fetched: Fetched,
  branch: string | undefined,
): Promise<void> {
  const row = await findProjectRow(ctx.db, projectId)
  if (!row) return
  const repo = ctx.git.open(projectId)
  await fetched.moveInto(repo)
  if (branch !== undefined && row.empty_repo === 1) {
    await saveImportedBranch(ctx, projectId, branch)
  }
  const now = await readRefValues(
    repo,
    fetched.refs.map((ref) => ref.name),
  )
  const moves = fetched.refs
    .map(({ name, id }) => ({ name, oldId: now.get(name) ?? '0'.repeat(id.length), newId: id }))
    .filter((move) => move.oldId !== move.newId)
  const project = await withProjectRole(ctx, row)
  if (moves.length > 0) await moveRefs(ctx, project, { via: 'system', moves })
  await refreshFacts(ctx, projectId)
}
