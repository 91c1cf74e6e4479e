import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { digestOf, type Reference } from './names.ts'
import { imageProblem } from './problem.ts'
import { assertMayMove } from './protected.ts'
import {
  deleteBlob,
  deleteManifest,
  deleteTags,
  deleteTagsAt,
  findManifest,
  noteLeft,
} from './queries.ts'
import { deleteLeftManifests } from './removal-queries.ts'
import { tagNamesWith } from './tag-names.ts'
import { deleteOldUploads, deleteUnusedBlobs } from './upload-queries.ts'

const AT_ONCE = 500

/** A repository of images that is there. */
interface StoredImage {
  readonly project: Project
  readonly repositoryId: number
}

/** Deletes a manifest with the tags that are at it, or one tag alone. */
export async function removeReference(
  ctx: Ctx,
  image: StoredImage,
  reference: Reference,
): Promise<void> {
  const { repositoryId } = image
  if ('tag' in reference) {
    const names = [reference.tag]
    await inTransaction(ctx, async (inner) => {
      const { db, now } = inner
      await assertMayMove(inner, image, 'delete', [names])
      await noteLeft(db, repositoryId, names, now())
      if ((await deleteTags(db, repositoryId, names)) === 0) throw unknownManifest()
    })
    return
  }
  await inTransaction(ctx, async (inner) => {
    const { db } = inner
    const row = await findManifest(db, repositoryId, reference.sha256)
    if (!row) throw unknownManifest()
    await assertMayDrop(inner, image, reference.sha256)
    const digest = digestOf(reference.sha256)
    let deleted = AT_ONCE
    while (deleted === AT_ONCE) deleted = await deleteTagsAt(db, repositoryId, digest, AT_ONCE)
    await deleteManifest(db, row)
  })
}

/** Deletes a blob of a repository. */
export async function removeBlob(ctx: Ctx, image: StoredImage, sha256: string): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await assertMayDrop(inner, image, sha256)
    if (!(await deleteBlob(inner.db, image.repositoryId, sha256))) {
      throw imageProblem('BLOB_UNKNOWN', 404, 'blob unknown to registry')
    }
  })
}

/** Whoever may not delete a tag may not take its image apart either. */
async function assertMayDrop(ctx: Ctx, image: StoredImage, sha256: string): Promise<void> {
  const names = tagNamesWith(ctx.db, image.repositoryId, sha256)
  await assertMayMove(ctx, image, 'delete', names)
}

export function unknownManifest() {
  return imageProblem('MANIFEST_UNKNOWN', 404, 'manifest unknown')
}

const DAY_MS = 86_400_000

/**
 * Forgets uploads that nobody finished, manifests that nothing names any more, and then blobs that no manifest names; the
 * daily sweep removes their bytes.
 */
export const collectImages = task({
  name: 'packages.collect_images',
  payload: z.object({}),
  lane: 'slow',
  async handler(ctx: Ctx, _payload, signal) {
    const before = later(ctx.now(), -DAY_MS)
    await deleteOldUploads(ctx.db, before)
    while ((await deleteLeftManifests(ctx.db, before, AT_ONCE)) > 0) signal.throwIfAborted()
    while ((await deleteUnusedBlobs(ctx.db, before, AT_ONCE)) > 0) signal.throwIfAborted()
  },
})
