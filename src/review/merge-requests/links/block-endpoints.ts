import { z } from 'zod'
import { badRequest, conflict, existing, forbidden, notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { type Endpoint, endpoint } from '../../../http/endpoint.ts'
import { id } from '../../../http/params.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { uniquely } from '../../../store/unique.ts'
import { findSeenRequest, onMergeRequest } from '../access.ts'
import { listedMergeRequestEntity } from '../entity.ts'
import { path } from '../path.ts'
import { presentMergeRequests } from '../present.ts'
import type { MergeRequestRow } from '../row.ts'
import { deleteBlock, insertBlock, listBlocks, waitsFor } from './block-queries.ts'

const edit = onMergeRequest('edit_merge_request', { signedIn: true })
const blockEntity = z.strictObject({
  id: z.int(),
  blocking_merge_request: listedMergeRequestEntity,
  blocked_merge_request: listedMergeRequestEntity,
  project_id: z.int(),
})

type BlockRow = Awaited<ReturnType<typeof listBlocks>>[number]

/** Blocks whose both sides the caller may see. */
async function present(ctx: Ctx, blocks: readonly BlockRow[]) {
  const shown: z.input<typeof blockEntity>[] = []
  for (const block of blocks) {
    const [blocking, blocked] = await Promise.all([
      findSeenRequest(ctx, block.blocking_id),
      findSeenRequest(ctx, block.blocked_id),
    ])
    if (!blocking || !blocked) continue
    const [first, second] = await presentMergeRequests(ctx, [blocking, blocked])
    if (!first || !second) continue
    shown.push({
      id: block.id,
      blocking_merge_request: first,
      blocked_merge_request: second,
      project_id: blocked.target_project_id,
    })
  }
  return shown
}

async function block(ctx: Ctx, row: MergeRequestRow, blockingId: number) {
  const blocking = existing(await findSeenRequest(ctx, blockingId))
  const twice = () => conflict('Block already exists')
  const made = await inTransaction(ctx, async (ctx) => {
    if (blocking.id === row.id || (await waitsFor(ctx.db, blocking.id, row.id))) {
      throw badRequest('a merge request cannot wait for itself')
    }
    const pair = 'merge_request_blocks.blocked_id, merge_request_blocks.blocking_id'
    return uniquely({ [pair]: twice }, () => insertBlock(ctx.db, blocking.id, row.id, ctx.now()))
  })
  const [shown] = await present(ctx, [made])
  return existing(shown, 'Block')
}

async function unblock(ctx: Ctx, row: MergeRequestRow, blockId: number): Promise<void> {
  const found = (await listBlocks(ctx.db, 'blocked_id', row.id)).find((one) => one.id === blockId)
  if (!found) throw notFound()
  if (!(await findSeenRequest(ctx, found.blocking_id))) throw forbidden()
  await deleteBlock(ctx.db, found.id)
}

/** What a merge request waits for, under both names that it goes by (docs/contract/D §1.10). */
function blockRoutes(word: 'blocks' | 'dependencies'): Endpoint[] {
  const at = `${path}/${word}` as const
  return [
    endpoint({
      method: 'GET',
      path: at,
      summary: 'List the merge requests that block this one',
      access: onMergeRequest(undefined, { signedIn: true }),
      response: z.array(blockEntity),
      handler: async ({ ctx, mergeRequest: row }) =>
        present(ctx, await listBlocks(ctx.db, 'blocked_id', row.id)),
    }),
    endpoint({
      method: 'POST',
      path: at,
      summary: 'Have a merge request wait for another',
      access: edit,
      body: { blocking_merge_request_id: id() },
      response: blockEntity,
      handler: ({ ctx, mergeRequest, body }) =>
        block(ctx, mergeRequest, body.blocking_merge_request_id),
    }),
    endpoint({
      method: 'DELETE',
      path: `${at}/:block_id`,
      summary: 'Wait for a merge request no more',
      access: edit,
      params: { block_id: id() },
      handler: ({ ctx, mergeRequest, params }) => unblock(ctx, mergeRequest, params.block_id),
    }),
    endpoint({
      method: 'DELETE',
      path: at,
      summary: 'Wait for a merge request no more, which the query names',
      access: edit,
      query: { block_id: id() },
      handler: ({ ctx, mergeRequest, query }) => unblock(ctx, mergeRequest, query.block_id),
    }),
  ]
}

export const mergeRequestBlocks = blockRoutes('blocks')
export const mergeRequestDependencies = blockRoutes('dependencies')

export const listMergeRequestBlockees = endpoint({
  method: 'GET',
  path: `${path}/blockees`,
  summary: 'List the merge requests that this one blocks',
  access: onMergeRequest(undefined, { signedIn: true }),
  response: z.array(blockEntity),
  async handler({ ctx, mergeRequest: row }) {
    return present(ctx, await listBlocks(ctx.db, 'blocking_id', row.id))
  },
})
