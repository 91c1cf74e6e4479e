import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { byteCache } from '../../base/byte-cache.ts'
import { Semaphore } from '../../base/semaphore.ts'
import { BytesBody } from '../../base/streams/bytes-body.ts'
import { mebibyte } from '../engine/budget.ts'
import { engineCall } from '../engine/engine-call.ts'
import { openEngineStream } from '../engine/engine-stream.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { operation } from '../engine/operation.ts'
import { downloads } from '../engine/reader-programs.ts'
import { damaged, GitError } from '../error.ts'
import { gitStream } from '../git-stream.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { Blob, ObjectId } from '../types.ts'
import { readObjectHeader, readTyped } from './objects.ts'

/** Larger blobs stream: in a message they would be copied several times. */
const wholeLimit = 256 * 1024
/** Larger ones come from the git program, without ever being whole in memory. */
const memoryLimit = 8 * mebibyte
/** As the pipe between the processes takes them well. */
const pieceSize = 256 * 1024
/** What `readBlob` is willing to hold in memory by default. */
const readLimit = 64 * 1024 * 1024

async function blobSize(repository: OpenRepository, id: ObjectId): Promise<number> {
  const { type, size } = await readObjectHeader(repository, assertObjectId(id))
  if (type !== 'blob') throw new GitError('not_found', `${id} is not a blob`)
  return size
}

interface OpenBlob {
  readonly size: number
  /** The bytes, when they are few enough. */
  readonly content?: Buffer | undefined
}

export async function openBlob(
  repository: OpenRepository,
  id: ObjectId,
  limit: number,
): Promise<OpenBlob> {
  // The main process has small objects at once and leaves the others alone, sizes included.
  const size = repository.where === 'in process' ? 0 : await blobSize(repository, id)
  if (size > limit) return { size }
  const content = await readTyped(repository, assertObjectId(id), 'blob')
  return content.length > limit ? { size: content.length } : { size: content.length, content }
}

/** As `openBlob`, of a blob that a tree names: when it is missing the repository is damaged. */
export async function openLinkedBlob(
  repository: OpenRepository,
  id: ObjectId,
  limit: number,
): Promise<OpenBlob> {
  try {
    return await openBlob(repository, id, limit)
  } catch (error) {
    const isLost = error instanceof GitError && error.code === 'not_found'
    throw isLost ? damaged(`the blob ${id} is missing`) : error
  }
}

/** Size and, when it is small enough, content. */
const readIfSmall = engineCall({
  name: 'readBlob',
  lane: 'light',
  inProcess: () => true,
  run: ({ repository }, input: { readonly id: ObjectId; readonly limit: number }) =>
    openBlob(repository, input.id, input.limit),
})

/** A blob with its bytes; `not_found` when the id is unknown or not a blob's, `too_large` beyond `limit`. */
export async function readBlob(
  repo: Repo,
  id: ObjectId,
  options: { readonly limit?: number | undefined } = {},
  signal?: AbortSignal,
): Promise<Blob> {
  const limit = options.limit ?? readLimit
  const { size, content } = await readIfSmall(repo, { id, limit }, signal)
  if (content) return { id, size, content }
  throw new GitError('too_large', `blob ${id} has ${size} bytes`, { size })
}

export interface BlobStream {
  /** Bytes of the whole blob. */
  readonly size: number
  /** The bytes asked for. An error of the stream means that it is not whole. */
  readonly body: Readable
  /** The same, when they are in memory anyway. */
  readonly content?: Buffer | undefined
}

/**
 * A blob as a stream, whole or from byte `start` up to and including byte `end`. Large ones need
 * constant memory; the git program behind them ends with the stream. What was asked for lately comes from memory.
 */
export async function streamBlob(
  repo: Repo,
  id: ObjectId,
  range: { readonly start?: number | undefined; readonly end?: number | undefined } = {},
  signal?: AbortSignal,
): Promise<BlobStream> {
  const key = `${repo.path} ${id}`
  const known = popular.get(key)
  const { size, content } = known
    ? { size: known.length }
    : await readIfSmall(repo, { id, limit: wholeLimit }, signal)
  const start = range.start ?? 0
  const end = Math.min(range.end ?? size - 1, size - 1)
  if (start < 0 || start > end + 1)
    throw new GitError('invalid', 'no such range of bytes', { size })
  if (content) {
    const part = content.subarray(start, end + 1)
    return {
      size,
      content: part,
      get body() {
        return bytesStream(part)
      },
    }
  }
  const whole = known ?? (size > memoryLimit ? undefined : await readShared(repo, id))
  const inMemory = whole && BytesBody.of(cut(whole, start, end))
  return { size, body: inMemory ?? (await pipeBlob(repo, id, start, end, signal)) }
}

/** A part of its own: who holds it does not hold the whole. */
function cut(whole: Buffer, start: number, end: number): Buffer {
  const part = whole.subarray(start, end + 1)
  return part.length === whole.length ? whole : Buffer.from(part)
}

/** Large blobs that were asked for lately: they are unpacked once, and need no other process again. */
const popular = byteCache<Buffer>(16 * mebibyte, (data) => data.length, memoryLimit)
/** Being read into memory: who asks meanwhile waits for the same bytes. */
const reading = new Map<string, Promise<Buffer | undefined>>()
/** So many at a time; after a wait the git program is worth its start. */
const streams = new Semaphore({ limit: 6, maxWaiting: 200, timeoutMs: 150 })

/** The bytes of a large blob; undefined when too much is under way. */
async function readShared(repo: Repo, id: ObjectId): Promise<Buffer | undefined> {
  const key = `${repo.path} ${id}`
  const bytes = reading.get(key) ?? readWhole(repo, id).finally(() => reading.delete(key))
  reading.set(key, bytes)
  return await bytes
}

async function readWhole(repo: Repo, id: ObjectId): Promise<Buffer | undefined> {
  const release = await streams.acquire().catch(() => undefined)
  if (!release) return undefined
  try {
    const data = await buffer(await openEngineStream(repo, emitBlobOperation, { id }))
    popular.set(`${repo.path} ${id}`, data)
    return data
  } finally {
    release()
  }
}

/** A blob in pieces: unpacked by libgit2 in its threads. */
export const emitBlobOperation = operation({
  name: 'emitBlob',
  lane: 'stream',
  async run({ repository, emit }, { id }: { readonly id: ObjectId }): Promise<void> {
    const data = await readTyped(repository, assertObjectId(id), 'blob')
    for (let at = 0; at < data.length; at += pieceSize) {
      await emit(data.subarray(at, at + pieceSize))
    }
  },
})

function bytesStream(bytes: Buffer): Readable {
  return Readable.from(bytes.length === 0 ? [] : [bytes], { objectMode: false })
}

async function pipeBlob(
  repo: Repo,
  id: ObjectId,
  start: number,
  end: number,
  signal: AbortSignal | undefined,
): Promise<Readable> {
  const args = ['cat-file', 'blob', id]
  const run = () => gitStream({ repo: repo.path, args, signal, timeout: 0 })
  const whole = await downloads.start(repo, run, signal)
  const body = Readable.from(cutStream(whole, start, end), { objectMode: false })
  return body.once('close', () => whole.destroy())
}

async function* cutStream(source: Readable, start: number, end: number): AsyncGenerator<Buffer> {
  let at = 0
  for await (const chunk of source as AsyncIterable<Buffer>) {
    const part = chunk.subarray(Math.max(start - at, 0), Math.max(end + 1 - at, 0))
    if (part.length > 0) yield part
    at += chunk.length
    if (at > end) return
  }
}

const hashBlobOperation = operation({
  name: 'hashBlob',
  lane: 'light',
  async run({ repository }, input: { readonly id: ObjectId }): Promise<string | undefined> {
    if ((await blobSize(repository, input.id)) > memoryLimit) return undefined
    return sha256(await readTyped(repository, input.id, 'blob'))
  },
})

/** A blob's hash never changes, and a file that is downloaded often is asked for it each time. */
const hashes = byteCache<string>(mebibyte, (hash) => hash.length)

/** SHA-256 of a blob's bytes, in hex. */
export async function hashBlob(repo: Repo, id: ObjectId, signal?: AbortSignal): Promise<string> {
  const key = `${repo.path} ${id}`
  const hash = hashes.get(key) ?? (await readHash(repo, id, signal))
  hashes.set(key, hash)
  return hash
}

async function readHash(
  repo: Repo,
  id: ObjectId,
  signal: AbortSignal | undefined,
): Promise<string> {
  const small = await repo.engine.run(hashBlobOperation, repo.path, { id }, signal)
  if (small !== undefined) return small
  const { body } = await streamBlob(repo, id, {}, signal)
  const hash = createHash('sha256')
  for await (const chunk of body) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** SHA-256 of bytes, in hex. */
export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
