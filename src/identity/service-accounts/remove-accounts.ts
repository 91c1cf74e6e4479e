import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { removeUserLater } from '../users/removal/removal-task.ts'
import { listAccountsBelow, listAccountsOfProject } from './queries.ts'

/** Shuts out the service accounts and bots of a project that is erased, and has them removed: nobody could end their tokens any more. */
export async function removeAccountsOfProject(
  ctx: Ctx,
  { projectId }: { readonly projectId: number },
): Promise<void> {
  await removeAccounts(ctx, await listAccountsOfProject(ctx.db, projectId))
}

/** The same of a group and the groups below it. */
export async function removeAccountsOfGroup(
  ctx: Ctx,
  { groupId }: { readonly groupId: number },
): Promise<void> {
  await removeAccounts(ctx, await listAccountsBelow(ctx.db, groupId))
}

async function removeAccounts(ctx: Ctx, ids: readonly number[]): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    for (const id of ids) await removeUserLater(ctx, { id, hard: false })
  })
}
