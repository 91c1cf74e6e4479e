import type { Project } from '../../access/subjects.ts'
import { invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Branch } from '../../git/refs/branches.ts'
import { noObject } from '../../git/types.ts'
import { moveRefs } from '../refs/move-refs.ts'

/** Deletes a branch: the default one never (400), a protected one only by those who may (403). */
export async function deleteBranch(ctx: Ctx, project: Project, branch: Branch): Promise<void> {
  if (branch.name === project.default_branch) {
    throw invalidText('The default branch of a project cannot be deleted.')
  }
  const move = { name: `refs/heads/${branch.name}`, oldId: branch.commit.id, newId: noObject }
  await moveRefs(ctx, project, { via: 'api', moves: [move] })
}
