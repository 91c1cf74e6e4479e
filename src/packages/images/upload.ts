import { randomUUID } from 'node:crypto'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import type { StoredFile } from '../../store/files.ts'
import type { Db } from '../../store/schema.ts'
import { inTransaction } from '../../store/transaction.ts'
import { assertWithinQuota } from '../registry/limits.ts'
import { findReadableImage, type ImageName } from './access.ts'
import { imageProblem } from './problem.ts'
import { ensureRepository, findBlob, findRepositoryId, insertBlob } from './queries.ts'
import {
  deleteUpload,
  findUpload,
  insertChunk,
  insertUpload,
  listChunks,
} from './upload-queries.ts'

type Body = Pick<RequestFacts, 'body' | 'headers'>

/** An upload that goes on, and how much of it is here. */
export interface Upload {
  readonly id: string
  readonly projectId: number
  readonly repositoryId: number
  readonly size: number
}

const MOST_CHUNKS = 10_000

function unknownUpload() {
  return imageProblem('BLOB_UPLOAD_UNKNOWN', 404, 'blob upload unknown to registry')
}

export async function startUpload(ctx: Ctx, image: ImageName): Promise<Upload> {
  await assertWithinQuota(ctx, image.project.id, 0)
  const id = randomUUID()
  const repositoryId = await inTransaction(ctx, async ({ db, now }) => {
    const repository = await ensureRepository(db, image.project.id, image.below, now())
    await insertUpload(db, id, repository, now())
    return repository
  })
  return { id, projectId: image.project.id, repositoryId, size: 0 }
}

export async function getUpload(ctx: Ctx, image: ImageName, id: string): Promise<Upload> {
  const repositoryId = await findRepositoryId(ctx.db, image.project.id, image.below)
  if (repositoryId === undefined || !/^[0-9a-f-]{36}$/.test(id)) throw unknownUpload()
  if (!(await findUpload(ctx.db, id, repositoryId))) throw unknownUpload()
  const chunks = await listChunks(ctx.db, id)
  const size = chunks.reduce((sum, chunk) => sum + chunk.size, 0)
  if (chunks.length > MOST_CHUNKS) throw imageProblem('SIZE_INVALID', 400, 'too many chunks')
  return { id, projectId: image.project.id, repositoryId, size }
}

/** Adds what the body holds to an upload, where it goes on from what is here. */
export async function addChunk(ctx: Ctx, upload: Upload, request: Body): Promise<Upload> {
  const range = rangeIn(request)
  if (range && range.start !== upload.size) throw outOfOrder(upload)
  const stored = await receive(ctx, request, upload.size)
  if (range && stored.size !== range.end - range.start + 1) {
    throw imageProblem('SIZE_INVALID', 400, 'the chunk is not as long as its range')
  }
  if (stored.size === 0) return upload
  const chunk = { start: upload.size, size: stored.size, file_sha256: stored.sha256 }
  await inTransaction(ctx, async (inner) => {
    await assertGoesOn(inner.db, upload)
    await assertWithinQuota(inner, upload.projectId, stored.size)
    if (!(await insertChunk(inner.db, { upload_id: upload.id, ...chunk }))) throw outOfOrder(upload)
  })
  return { ...upload, size: upload.size + stored.size }
}

/** Which bytes a client says that it sends; some write it as for a download. */
function rangeIn({ headers }: Body): { readonly start: number; readonly end: number } | undefined {
  const text = headers['content-range']
  if (text === undefined) return undefined
  const [, start, end] =
    /^(?:bytes[ =])?(\d{1,15})-(\d{1,15})(?:\/[\d*]+)?$/.exec(String(text)) ?? []
  if (start === undefined) throw imageProblem('BLOB_UPLOAD_INVALID', 400, 'the range is invalid')
  return { start: Number(start), end: Number(end) }
}

/** It may have been finished or given up while bytes were on the way. */
async function assertGoesOn(db: Db, { id, repositoryId }: Upload): Promise<void> {
  if (!(await findUpload(db, id, repositoryId))) throw unknownUpload()
}

function outOfOrder(upload: Upload): Problem {
  const headers = { Range: rangeOf(upload) }
  return imageProblem('BLOB_UPLOAD_INVALID', 416, 'the chunk is out of order', headers)
}

/** How much is here, as the protocol writes it. */
export function rangeOf(upload: Upload): string {
  return `0-${Math.max(0, upload.size - 1)}`
}

async function receive(ctx: Ctx, request: Body, before: number): Promise<StoredFile> {
  const most = ctx.config.maxPackageFile || Number.POSITIVE_INFINITY
  try {
    return await ctx.files.put(request.body, { maxSize: Math.max(0, most - before) })
  } catch (error) {
    if (error instanceof Problem && error.code === 'too_large') {
      throw imageProblem('SIZE_INVALID', 400, 'the blob is too large')
    }
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const isCut = code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE'
    throw isCut ? imageProblem('BLOB_UPLOAD_INVALID', 400, 'the upload ended too early') : error
  }
}

/** Ends an upload: its pieces become one blob, if they are what the digest says. */
export async function finishUpload(ctx: Ctx, upload: Upload, sha256: string): Promise<void> {
  const chunks = await listChunks(ctx.db, upload.id)
  // Without it, what another request has just ended looks like an upload of nothing.
  await assertGoesOn(ctx.db, upload)
  const [only, ...others] = chunks
  const isWhole = only !== undefined && others.length === 0 && only.file_sha256 === sha256
  const stored = isWhole
    ? { sha256: only.file_sha256, size: only.size }
    : await ctx.files.put(piecesOf(ctx, chunks), {
        check(file) {
          if (file.sha256 !== sha256) throw wrongDigest()
        },
      })
  await inTransaction(ctx, async (inner) => {
    await assertGoesOn(inner.db, upload)
    // Its pieces count until then.
    await deleteUpload(inner.db, upload.id)
    await assertWithinQuota(inner, upload.projectId, stored.size)
    await insertBlob(inner.db, { repositoryId: upload.repositoryId, ...stored }, inner.now())
  })
}

function wrongDigest() {
  return imageProblem('DIGEST_INVALID', 400, 'provided digest did not match uploaded content')
}

async function* piecesOf(
  ctx: Ctx,
  chunks: readonly { readonly file_sha256: string }[],
): AsyncGenerator<Uint8Array> {
  for (const { file_sha256 } of chunks) {
    const { body } = await ctx.files.open(file_sha256)
    for await (const piece of body) yield piece as Uint8Array
  }
}

/** Takes a blob from another repository that the caller may read; false when it is not there. */
export async function mountBlob(
  ctx: Ctx,
  image: ImageName,
  sha256: string,
  from: string | undefined,
): Promise<boolean> {
  // One that is lost is uploaded again.
  if (from === undefined || (await ctx.files.sizeOf(sha256)) === undefined) return false
  return await inTransaction(ctx, async (inner) => {
    const source = await findReadableImage(inner, from)
    const sourceId = source && (await findRepositoryId(inner.db, source.project.id, source.below))
    const blob = sourceId === undefined ? undefined : await findBlob(inner.db, sourceId, sha256)
    if (!blob) return false
    await assertWithinQuota(inner, image.project.id, blob.size)
    const { project, below } = image
    const repositoryId = await ensureRepository(inner.db, project.id, below, inner.now())
    await insertBlob(inner.db, { repositoryId, sha256, size: blob.size }, inner.now())
    return true
  })
}
