import { Role } from '../../access/roles.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { deleteBranchRule, ensureBranchRule, setRoleLevel } from './rule-queries.ts'

/** Protects one branch by roles alone; what is not told stays, or is for maintainers (spec D §1.5, legacy form). */
export async function protectBranch(
  ctx: Ctx,
  project: Pick<Project, 'id'>,
  name: string,
  wish: {
    readonly developersCanPush?: boolean | undefined
    readonly developersCanMerge?: boolean | undefined
  },
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const rule = await ensureBranchRule(ctx.db, project.id, name, ctx.now())
    const actions = { push: wish.developersCanPush, merge: wish.developersCanMerge } as const
    for (const action of ['push', 'merge'] as const) {
      const open = actions[action]
      if (open === undefined && !rule.isNew) continue
      const level = open ? Role.developer : Role.maintainer
      await setRoleLevel(ctx.db, rule.id, { action, level })
    }
  })
}

/** Takes away the rule of exactly this name, if there is one. */
export async function unprotectBranch(
  ctx: Ctx,
  project: Pick<Project, 'id'>,
  name: string,
): Promise<void> {
  await deleteBranchRule(ctx.db, project.id, name)
}
