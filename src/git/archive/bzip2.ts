import { spawn } from 'node:child_process'
import { fallBehind } from '../../base/priority.ts'
import { assertStarted } from '../command.ts'
import { GitError } from '../error.ts'
import { inBlocks } from './blocks.ts'

/*
 * A bzip2 file is a head, blocks that know nothing of each other, and an end with a checksum of theirs. So each block is
 * packed by a program of its own, side by side, and their bits make one ordinary stream.
 */

/** What the program's run lengths can make of so many bytes, five of four, still fits into one block of 900 kB. */
const blockSize = 700_000
/** The first block is small, so that something can be sent soon. */
const firstBlock = 48_000
/** Programs at a time: each holds eight megabytes. */
const ahead = 3

const head = Buffer.from('BZh9')
const blockMark = 0x314159265359n
const endMark = 0x177245385090n

/** bzip2 on all cores; the bytes depend on the input alone. */
export async function* bzip2(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const bits = new BitPieces()
  const pending: PackedBlock[] = []
  let checksum = 0
  const next = async () => {
    const block = await pending.shift()?.packed
    if (!block) return Buffer.alloc(0)
    checksum = ((checksum << 1) | (checksum >>> 31)) ^ block.checksum
    return bits.add(block.bytes, block.bits)
  }
  try {
    yield head
    let size = firstBlock
    const nextBlock = () => {
      const block = Buffer.allocUnsafe(size)
      size = blockSize
      return block
    }
    for await (const block of inBlocks(source, nextBlock)) {
      pending.push(packBlock(block))
      if (pending.length >= ahead) yield await next()
    }
    while (pending.length > 0) yield await next()
    yield bits.end(endOf(checksum))
  } finally {
    for (const block of pending) block.stop()
  }
}

function endOf(checksum: number): Buffer {
  const end = Buffer.alloc(10)
  end.writeUIntBE(Number(endMark), 0, 6)
  end.writeUInt32BE(checksum >>> 0, 6)
  return end
}

/** A block on its way through the program. */
interface PackedBlock {
  readonly packed: Promise<Block>
  stop(): void
}

/** A block as it stands in the file. */
interface Block {
  readonly bytes: Buffer
  /** How many bits of the bytes it has. */
  readonly bits: number
  readonly checksum: number
}

function packBlock(data: Buffer): PackedBlock {
  const child = spawn('bzip2', ['-9', '-c'], { stdio: ['pipe', 'pipe', 'ignore'] })
  assertStarted(child)
  fallBehind(child.pid)
  const pieces: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece))
  // A program that ended early breaks the pipe; its exit code tells.
  child.stdin.on('error', () => {})
  child.stdin.end(data)
  const packed = new Promise<Block>((resolve, reject) => {
    child.on('error', (error) => reject(new GitError('failed', `bzip2: ${error.message}`)))
    child.on('close', (code) => {
      const block = code === 0 ? onlyBlock(Buffer.concat(pieces)) : undefined
      if (block) resolve(block)
      else reject(new GitError('failed', `bzip2 ended with ${code}`))
    })
  })
  // It may fail while an earlier block is waited for.
  packed.catch(() => {})
  return { packed, stop: () => child.kill('SIGKILL') }
}

/** The one block of a whole file; undefined when there is not exactly one. */
function onlyBlock(file: Buffer): Block | undefined {
  const bytes = file.subarray(head.length)
  if (bytes.length < 20 || BigInt(bytes.readUIntBE(0, 6)) !== blockMark) return undefined
  const checksum = bytes.readUInt32BE(6)
  // With one block its checksum is that of the file. The end begins at any bit; less than a byte follows it.
  const end = (endMark << 32n) | BigInt(checksum)
  const last = BigInt(`0x${bytes.toString('hex', bytes.length - 11)}`)
  for (let fill = 0; fill < 8; fill += 1) {
    if (BigInt.asUintN(80, last >> BigInt(fill)) !== end) continue
    return { bytes, bits: bytes.length * 8 - fill - 80, checksum }
  }
  return undefined
}

/** Puts bits after bits, and gives the whole bytes. */
class BitPieces {
  /** What has not made a byte yet: its bits from the top, and how many there are. */
  #rest = 0
  #restBits = 0

  add(bytes: Buffer, bits: number): Buffer {
    const total = this.#restBits + bits
    const shift = this.#restBits
    const result = Buffer.alloc((total + 7) >> 3)
    let rest = this.#rest
    const used = (bits + 7) >> 3
    for (let i = 0; i < used; i += 1) {
      const byte = bytes[i] ?? 0
      result[i] = rest | (byte >> shift)
      rest = (byte << (8 - shift)) & 0xff
    }
    if (used < result.length) result[used] = rest
    const whole = total >> 3
    this.#restBits = total & 7
    const mask = 0xff & ~(0xff >> this.#restBits)
    this.#rest = this.#restBits === 0 ? 0 : (result[whole] ?? 0) & mask
    return result.subarray(0, whole)
  }

  /** The last bits, filled up to a byte. */
  end(bytes: Buffer): Buffer {
    const whole = this.add(bytes, bytes.length * 8)
    return this.#restBits === 0 ? whole : Buffer.concat([whole, Buffer.from([this.#rest])])
  }
}
