import { z } from 'zod'
import { task } from '../../background/task.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { removeRepository } from '../../repositories/wikis-and-snippets/repository.ts'
import { inTransaction } from '../../store/transaction.ts'
import { deleteSnippetRow, findSnippetRow, hideSnippetRow, listSnippetIdsOf } from './queries.ts'

/** Removes what is left of a snippet that was deleted, or that a crash kept from being shown. */
export const removeSnippetTask = task({
  name: 'snippets.remove',
  payload: z.object({ snippet_id: z.int() }),
  async handler(ctx: Ctx, { snippet_id: id }) {
    const row = await findSnippetRow(ctx.db, id)
    if (row?.pending_delete === 1) await discardSnippet(ctx, id)
  },
})

/** The repository first, so that a crash leaves the row to try again. */
export async function discardSnippet(ctx: Ctx, id: number): Promise<void> {
  await removeRepository(ctx, { kind: 'snippet', id })
  await deleteSnippetRow(ctx.db, id)
}

/** Makes a snippet unfindable at once, and leaves its files to a task. */
export async function removeSnippet(ctx: Ctx, id: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    if (!(await hideSnippetRow(ctx.db, id, ctx.now()))) throw notFound('Snippet')
    await ctx.work.enqueue(ctx.db, removeSnippetTask, { snippet_id: id })
  })
}

/** Removes all that a user who goes wrote, wherever, when all goes. */
export async function discardSnippetsOf(
  ctx: Ctx,
  { userId, hard }: { readonly userId: number; readonly hard: boolean },
): Promise<void> {
  if (!hard) return
  for (const id of await listSnippetIdsOf(ctx.db, userId)) await discardSnippet(ctx, id)
}
