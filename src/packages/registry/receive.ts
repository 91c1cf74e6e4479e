import type { Readable } from 'node:stream'
import { badRequest, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import type { ExtraDigest, StoredFile } from '../../store/files.ts'
import type { PackageType } from '../../store/schema/packages.ts'
import { maxFileSize } from './limits.ts'

/** A file that is safe in the store, with the digests that package clients ask for. */
export interface ReceivedFile {
  readonly sha256: string
  readonly sha1: string
  readonly md5: string
  /** Only where the format asks for it. */
  readonly sha512: string | null
  readonly size: number
}

export interface ReceiveOptions {
  /** npm wants SHA-512, too. */
  readonly sha512?: boolean
  /** Looks at size and digests before the file is kept; what it throws leaves nothing behind. */
  readonly check?: (file: ReceivedFile) => void
}

const digests: readonly ExtraDigest[] = ['sha1', 'md5']

/** Streams the body of a `raw` endpoint into the file store while it is hashed. Call it once the caller is admitted. */
export async function receiveFile(
  ctx: Ctx,
  type: PackageType,
  request: Pick<RequestFacts, 'headers' | 'body'>,
  options: ReceiveOptions = {},
): Promise<ReceivedFile> {
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > maxFileSize(ctx, type)) throw fileTooLarge()
  return storeFile(ctx, type, request.body, options)
}

/** As `receiveFile`, for bytes from anywhere: a part of a form, an attachment within JSON, an upstream. */
export async function storeFile(
  ctx: Ctx,
  type: PackageType,
  source: Readable | AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: ReceiveOptions = {},
): Promise<ReceivedFile> {
  try {
    const stored = await ctx.files.put(source, {
      digests: options.sha512 ? [...digests, 'sha512'] : digests,
      maxSize: maxFileSize(ctx, type),
      check: (file) => options.check?.(received(file)),
    })
    return received(stored)
  } catch (error) {
    throw asProblem(error)
  }
}

function received({ sha256, size, digests: found }: StoredFile): ReceivedFile {
  const { sha1 = '', md5 = '', sha512 = null } = found
  return { sha256, sha1, md5, sha512, size }
}

function fileTooLarge(): Problem {
  return badRequest('File is too large')
}

/** A body that ends too early is the sender's doing. */
function asProblem(error: unknown): unknown {
  if (error instanceof Problem) return error.code === 'too_large' ? fileTooLarge() : error
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const isCut = code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE'
  return isCut ? badRequest('The upload ended too early') : error
}

/** The whole of a small body of a `raw` endpoint. */
export async function readSmallBody(
  request: Pick<RequestFacts, 'body'>,
  most: number,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) throw badRequest('The body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
