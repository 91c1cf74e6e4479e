import { spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'
import { fallBehind } from '../../base/priority.ts'
import { assertStarted } from '../command.ts'
import { drained } from '../drain.ts'
import { GitError } from '../error.ts'

const compress = promisify(deflateRaw)

const blockSize = 512 * 1024
/** What deflate may refer back to: given to each block, so that cutting costs hardly any size. */
const windowSize = 32 * 1024
/** Blocks on their way: one for each thread of Node's pool. */
const ahead = 4

/** Cuts a stream into blocks of exactly one size; the last one may be smaller. */
export async function* inBlocks(
  source: AsyncIterable<Buffer>,
  size: number,
): AsyncGenerator<Buffer> {
  let block = Buffer.allocUnsafe(size)
  let filled = 0
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      const copied = piece.copy(block, filled, at)
      at += copied
      filled += copied
      if (filled < size) continue
      yield block
      block = Buffer.allocUnsafe(size)
      filled = 0
    }
  }
  if (filled > 0) yield block.subarray(0, filled)
}

/**
 * gzip on all cores: blocks are deflated side by side, each ended on a byte border, and make one
 * ordinary member. The bytes depend on the input alone.
 */
export async function* gzip(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // No name and no time; 255 is "unknown" for the system, the same everywhere.
  yield Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
  const pending: Promise<Buffer>[] = []
  let checksum = 0
  let size = 0
  let window: Buffer | undefined
  for await (const block of inBlocks(source, blockSize)) {
    checksum = crc32(block, checksum)
    size += block.length
    const options = { level: 6, finishFlush: constants.Z_SYNC_FLUSH }
    pending.push(compress(block, window ? { ...options, dictionary: window } : options))
    window = block.subarray(-windowSize)
    if (pending.length >= ahead) yield (await pending.shift()) ?? Buffer.alloc(0)
  }
  for (const block of pending) yield await block
  const end = Buffer.alloc(10)
  // An empty last block, then the checks.
  end.writeUInt16LE(0x0003, 0)
  end.writeUInt32LE(checksum, 2)
  end.writeUInt32LE(size % 2 ** 32, 6)
  yield end
}

/** bzip2 by the program of that name: no package is as fast. */
export async function* bzip2(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const child = spawn('bzip2', ['-c'], { stdio: ['pipe', 'pipe', 'ignore'] })
  assertStarted(child)
  fallBehind(child.pid)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(new GitError('failed', `bzip2: ${error.message}`)))
    child.on('close', resolve)
  })
  ended.catch(() => {})
  // A program that ended early breaks the pipe; its exit code tells.
  child.stdin.on('error', () => {})
  let failure: unknown
  const feeding = feed(source, child.stdin).catch((error) => {
    failure = error
    child.kill('SIGKILL')
  })
  try {
    yield* child.stdout
    await feeding
    const code = await ended
    if (failure !== undefined) throw failure
    if (code !== 0) throw new GitError('failed', `bzip2 ended with ${code}`)
  } finally {
    child.kill('SIGKILL')
  }
}

async function feed(source: AsyncIterable<Buffer>, into: Writable): Promise<void> {
  for await (const piece of source) {
    if (into.destroyed) return
    if (!into.write(piece)) await drained(into)
  }
  into.end()
}
