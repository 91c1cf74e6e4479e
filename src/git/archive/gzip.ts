import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'
import { inBlocks } from './blocks.ts'

const compress = promisify(deflateRaw)

const blockSize = 512 * 1024
/** What deflate may refer back to: given to each block, so that cutting costs hardly any size. */
const windowSize = 32 * 1024
/** Blocks on their way: one for each thread of Node's pool. */
const ahead = 4

const options = {
  level: 6,
  // A larger table: a tenth less work than with the usual 8.
  memLevel: 9,
  finishFlush: constants.Z_SYNC_FLUSH,
  // A block is seldom longer: each piece more is another switch between threads.
  chunkSize: 256 * 1024,
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
  // In use are those on their way, the one before them as their window, and the one that is filled.
  const blocks = Array.from({ length: ahead + 1 }, () => Buffer.allocUnsafeSlow(blockSize))
  let last = 0
  const next = () => blocks[++last % blocks.length] ?? Buffer.allocUnsafeSlow(blockSize)
  for await (const block of inBlocks(source, next)) {
    checksum = crc32(block, checksum)
    size += block.length
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
