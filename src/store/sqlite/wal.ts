import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'

/*
 * SQLite takes from a write-ahead log what is whole, and says nothing of the rest (fileformat2.html §4). A person should
 * hear of it: what a power cut tore off was acknowledged to nobody, but a log that was overwritten or taken away may have
 * held acknowledged changes.
 */

const headerBytes = 32
const frameHeaderBytes = 24
const littleEndianSums = 0x377f0682
const bigEndianSums = 0x377f0683
/** Each time SQLite begins the log anew, it counts the first salt up: frames of earlier rounds stay behind. */
const roundsBefore = 100_000

interface Sums {
  one: number
  two: number
}

/**
 * What is wrong with the write-ahead log beside a database, in one sentence; nothing when all is well. Nothing in this process may have
 * the database open: that a file is closed takes SQLite's locks on it away.
 */
export function findLogDamage(databasePath: string): string | undefined {
  const index = openIfThere(`${databasePath}-shm`)
  const log = openIfThere(`${databasePath}-wal`)
  try {
    const expected = index === undefined ? 0 : expectedFrames(index)
    if (log !== undefined) return damageOf(log, expected)
    return expected > 0 ? `it is gone, with up to ${expected} pages in it` : undefined
  } finally {
    for (const file of [index, log]) if (file !== undefined) closeSync(file)
  }
}

function openIfThere(path: string): number | undefined {
  return existsSync(path) ? openSync(path, 'r') : undefined
}

/** What is wrong with an open log that must have so many frames. */
export function damageOf(file: number, expected: number): string | undefined {
  const { size } = fstatSync(file)
  if (size === 0) return expected > 0 ? `it is empty, and had up to ${expected} pages` : undefined
  const header = readAt(file, 0, headerBytes)
  const magic = header.length < headerBytes ? 0 : header.readUInt32BE(0)
  const little = magic === littleEndianSums
  if (!little && magic !== bigEndianSums) return 'it does not begin as a log does'
  const sums = addTo({ one: 0, two: 0 }, header.subarray(0, 24), little)
  if (sums.one !== header.readUInt32BE(24) || sums.two !== header.readUInt32BE(28)) {
    return 'its beginning is damaged'
  }
  return framesDamage(file, size, header, sums, little, expected)
}

function framesDamage(
  file: number,
  size: number,
  header: Buffer,
  sums: Sums,
  little: boolean,
  expected: number,
): string | undefined {
  const frameBytes = frameHeaderBytes + header.readUInt32BE(8)
  let whole = 0
  for (let at = headerBytes; at + frameBytes <= size; at += frameBytes) {
    const frame = readAt(file, at, frameBytes)
    const salt = frame.readUInt32BE(8)
    if (salt !== header.readUInt32BE(16) || frame.readUInt32BE(12) !== header.readUInt32BE(20)) {
      // What an earlier round left behind has a lower salt; anything else is no frame of SQLite's.
      const before = (header.readUInt32BE(16) - salt) >>> 0
      if (before === 0 || before > roundsBefore) return damagedFrom(whole)
      break
    }
    addTo(sums, frame.subarray(0, 8), little)
    addTo(sums, frame.subarray(frameHeaderBytes), little)
    if (sums.one !== frame.readUInt32BE(16) || sums.two !== frame.readUInt32BE(20)) {
      return damagedFrom(whole)
    }
    whole += 1
  }
  return whole < expected ? `it ends after page ${whole} of ${expected}` : undefined
}

function damagedFrom(whole: number): string {
  return `it is damaged from page ${whole + 1} on`
}

/** The checksums of the file format: two sums over pairs of words. */
function addTo(sums: Sums, bytes: Buffer, little: boolean): Sums {
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    const [one, two] = little
      ? [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]
      : [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
    sums.one = (sums.one + one + sums.two) >>> 0
    sums.two = (sums.two + two + sums.one) >>> 0
  }
  return sums
}

/**
 * How many frames the log must have that are not in the database file yet, by the index that a killed process leaves
 * beside it (walformat.html §2); 0 when there is none, or the index is not of one mind.
 */
export function expectedFrames(file: number): number {
  const index = readAt(file, 0, 136)
  if (index.length < 136 || !index.subarray(0, 48).equals(index.subarray(48, 96))) return 0
  // In the byte order of the machine that wrote it, which is this one.
  const frames = index.readUInt32LE(16)
  const copied = index.readUInt32LE(96)
  return index[12] === 1 && copied < frames ? frames : 0
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, position))
}
