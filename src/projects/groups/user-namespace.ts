import type { Ctx } from '../../ctx.ts'
import { insertUserNamespace, renameUserNamespace } from './user-namespace-queries.ts'

interface NamedUser {
  readonly id: number
  readonly username: string
  readonly name: string
}

/** Creates the personal namespace, in the transaction that creates the user. Bots of tokens own nothing. */
export async function createUserNamespace(
  ctx: Ctx,
  user: NamedUser & { readonly kind: string },
): Promise<void> {
  if (user.kind === 'project_bot' || user.kind === 'group_bot') return
  await insertUserNamespace(ctx.db, user, ctx.now())
}

/** Lets the personal namespace, and the projects in it, follow a changed name or username. */
export async function followUserName(
  ctx: Ctx,
  { user }: { readonly user: NamedUser },
): Promise<void> {
  await renameUserNamespace(ctx.db, user, ctx.now())
}
