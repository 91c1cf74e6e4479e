import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { Branch } from '../../git/refs/branches.ts'
import { commitEntity, presentCommit } from '../commits/entity.ts'
import type { BranchState } from '../refs/branch-state.ts'
import { projectUrl } from '../repository/access.ts'

export const branchEntity = z.strictObject({
  name: z.string(),
  commit: commitEntity,
  merged: z.boolean(),
  protected: z.boolean(),
  developers_can_push: z.boolean(),
  developers_can_merge: z.boolean(),
  can_push: z.boolean(),
  default: z.boolean(),
  web_url: z.string(),
})

export function presentBranch(
  ctx: Pick<Ctx, 'config'>,
  project: Pick<Project, 'full_path' | 'default_branch'>,
  branch: Branch,
  more: BranchState & { readonly merged: boolean },
): z.input<typeof branchEntity> {
  const path = branch.name.split('/').map(encodeURIComponent).join('/')
  return {
    name: branch.name,
    commit: presentCommit(ctx, project, branch.commit),
    ...more,
    default: branch.name === project.default_branch,
    web_url: `${projectUrl(ctx, project)}/-/tree/${path}`,
  }
}
