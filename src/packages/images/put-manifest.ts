import { createHash } from 'node:crypto'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import type { Db } from '../../store/schema.ts'
import { inTransaction } from '../../store/transaction.ts'
import { assertWithinQuota } from '../registry/limits.ts'
import { readSmallBody } from '../registry/receive.ts'
import type { ImageName } from './access.ts'
import { type Descriptor, type Manifest, MOST_MANIFEST, readManifest } from './manifest.ts'
import { digestOf, type Reference } from './names.ts'
import { imageProblem } from './problem.ts'
import { assertMayMove } from './protected.ts'
import {
  ensureRepository,
  listBlobsAmong,
  listManifestsAmong,
  noteLeft,
  saveManifest,
  saveTag,
} from './queries.ts'

/** Stores a manifest under its hash and moves the tag to it, if one was named. */
export async function putManifest(
  ctx: Ctx,
  image: ImageName,
  reference: Reference,
  request: Pick<RequestFacts, 'body' | 'headers'>,
): Promise<{ readonly sha256: string; readonly subject: string | null }> {
  const bytes = await readSmallBody(request, MOST_MANIFEST)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if ('sha256' in reference && reference.sha256 !== sha256) {
    throw imageProblem('DIGEST_INVALID', 400, 'provided digest did not match uploaded content')
  }
  const type = request.headers['content-type']
  const manifest = readManifest(bytes, typeof type === 'string' ? type : undefined)
  await ctx.files.put([bytes])
  await inTransaction(ctx, async (inner) => {
    const { db, now } = inner
    if ('tag' in reference) await assertMayMove(inner, image, 'push', [[reference.tag]])
    const repositoryId = await ensureRepository(db, image.project.id, image.below, now())
    const total = (await sizeOf(db, repositoryId, manifest)) + bytes.length
    const references = [...manifest.blobs, ...manifest.children].map((one) => one.sha256)
    const row = {
      repository_id: repositoryId,
      file_sha256: sha256,
      media_type: manifest.mediaType,
      artifact_type: manifest.artifactType,
      subject_sha256: manifest.subject,
      annotations: manifest.annotations && JSON.stringify(manifest.annotations),
      size: bytes.length,
      total_size: total,
      created_at: now(),
    }
    // One that is here may get another tag, however full the project is.
    const known = await listManifestsAmong(db, repositoryId, [sha256])
    if (known.length === 0) await assertWithinQuota(inner, image.project.id, bytes.length)
    await saveManifest(db, row, references)
    if (!('tag' in reference)) return
    await noteLeft(db, repositoryId, [reference.tag], now())
    const tag = { repository_id: repositoryId, name: reference.tag, created_at: now() }
    await saveTag(db, { ...tag, digest: digestOf(sha256), total_size: total })
  })
  return { sha256, subject: manifest.subject }
}

/** Bytes of all that a manifest names; refuses what is not here. */
async function sizeOf(db: Db, repositoryId: number, manifest: Manifest): Promise<number> {
  const blobs = await sizesOf(manifest.blobs, (hashes) => listBlobsAmong(db, repositoryId, hashes))
  const children = await sizesOf(manifest.children, async (hashes) => {
    const rows = await listManifestsAmong(db, repositoryId, hashes)
    return rows.map((row) => ({ file_sha256: row.file_sha256, size: row.total_size }))
  })
  return blobs + children
}

async function sizesOf(
  wanted: readonly Descriptor[],
  list: (hashes: readonly string[]) => Promise<{ file_sha256: string; size: number }[]>,
): Promise<number> {
  const hashes = [...new Set(wanted.map((one) => one.sha256))]
  if (hashes.length === 0) return 0
  const known = new Map((await list(hashes)).map((row) => [row.file_sha256, row.size]))
  const missing = hashes.find((hash) => !known.has(hash))
  if (missing !== undefined) {
    throw imageProblem('MANIFEST_BLOB_UNKNOWN', 404, `${digestOf(missing)} is unknown to registry`)
  }
  return [...known.values()].reduce((sum, size) => sum + size, 0)
}
