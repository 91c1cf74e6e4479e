import { Role } from '../../access/roles.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { defaultProtection } from '../refs/default-protection.ts'
import { rulesFor } from '../refs/protection.ts'
import { listBranchRules } from '../refs/queries.ts'
import {
  deleteBranchRule,
  ensureBranchRule,
  insertDefaultRule,
  setRoleLevel,
} from './rule-queries.ts'

/** Protects one branch by roles alone; what is not given stays, or is for maintainers (docs/contract/D §1.5, legacy form). */
export async function protectBranch(
  ctx: Ctx,
  project: Pick<Project, 'id'>,
  name: string,
  given: {
    readonly developers_can_push?: boolean | undefined
    readonly developers_can_merge?: boolean | undefined
  },
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const rule = await ensureBranchRule(ctx.db, project.id, name, ctx.now())
    const actions = { push: given.developers_can_push, merge: given.developers_can_merge } as const
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

/** Protects the branch that the first push to a project made its default one, unless a rule does. */
export async function protectFirstBranch(
  ctx: Ctx,
  first: { readonly projectId: number; readonly namespaceId: number; readonly name: string },
): Promise<void> {
  const known = await listBranchRules(ctx.db, first.projectId, first.namespaceId)
  if (rulesFor(known, first.name).length > 0) return
  const { rule } = await defaultProtection(ctx, first.namespaceId)
  const { projectId, name } = first
  if (rule) await insertDefaultRule(ctx.db, { projectId, name, ...rule }, ctx.now())
}
