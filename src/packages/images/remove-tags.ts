import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import { task } from '../../background/task.ts'
import type { Instant } from '../../base/clock.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { readDigest } from './names.ts'
import {
  claimBulkDeletion,
  deleteRepositoryRow,
  deleteSomeOfRepository,
  deleteTagsNamed,
  deleteUnusedManifests,
  findRepositoryById,
  saveCleanupStart,
  setRepositoryStatus,
} from './removal-queries.ts'

const AT_ONCE = 200

/**
 * Deletes tags with the images that nothing else names; collection then removes the blobs that only those had. A tag that
 * was pushed after `pushedBy` stays: whoever chose it saw another image.
 */
export async function removeTags(
  ctx: Ctx,
  repositoryId: number,
  names: readonly string[],
  options: { readonly signal?: AbortSignal; readonly pushedBy?: Instant } = {},
): Promise<void> {
  const { signal, pushedBy } = options
  for (let at = 0; at < names.length; at += AT_ONCE) {
    signal?.throwIfAborted()
    await inTransaction(ctx, async ({ db }) => {
      const some = names.slice(at, at + AT_ONCE)
      const digests = await deleteTagsNamed(db, repositoryId, some, pushedBy)
      let hashes = digests.map(readDigest)
      while (hashes.length > 0) hashes = await deleteUnusedManifests(db, repositoryId, hashes)
    })
  }
}

/** Whether tags may be deleted by a pattern now: at most once since a moment. Call it in the transaction that does. */
export function claimTagDeletion(
  ctx: Pick<Ctx, 'db' | 'now'>,
  repositoryId: number,
  since: Instant,
): Promise<boolean> {
  return claimBulkDeletion(ctx.db, repositoryId, { since, now: ctx.now() })
}

/** Notes that the cleanup policy of the project reaches a repository. */
export async function noteCleanup(
  ctx: Pick<Ctx, 'db' | 'now'>,
  repositoryId: number,
): Promise<void> {
  await saveCleanupStart(ctx.db, repositoryId, ctx.now())
}

/**
 * Deletes a repository of images: nobody reads or pushes from now on, and its rows follow in the background. Whoever asks
 * while it goes already has nothing done again.
 */
export async function removeRepository(
  ctx: Ctx,
  repository: { readonly id: number; readonly project_id: number; readonly name: string },
): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    const { status } = existing(await findRepositoryById(inner.db, repository.id), 'Repository')
    if (status === 'delete_scheduled' || status === 'delete_ongoing') return
    await setRepositoryStatus(inner.db, repository.id, 'delete_scheduled', inner.now())
    await inner.work.enqueue(inner.db, deleteImageRepository, { repositoryId: repository.id })
    await audit(inner, {
      entity: { type: 'Project', id: repository.project_id },
      action: 'container_repository_deleted',
      details: { name: repository.name },
    })
  })
}

export const deleteImageRepository = task({
  name: 'packages.delete_image_repository',
  payload: z.object({ repositoryId: z.int() }),
  lane: 'slow',
  async handler(ctx: Ctx, { repositoryId }, signal) {
    const row = await findRepositoryById(ctx.db, repositoryId)
    // Ids are never used again, so this is the one that was scheduled.
    if (!row?.status) return
    await setRepositoryStatus(ctx.db, repositoryId, 'delete_ongoing', ctx.now())
    while ((await deleteSomeOfRepository(ctx.db, repositoryId, AT_ONCE)) > 0) {
      signal.throwIfAborted()
    }
    await deleteRepositoryRow(ctx.db, repositoryId)
  },
  givenUp: (ctx, { repositoryId }) =>
    setRepositoryStatus(ctx.db, repositoryId, 'delete_failed', ctx.now()),
})
