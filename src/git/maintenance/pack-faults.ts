import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { formatIn } from '../objects/packs/object-format.ts'

export interface PackFault {
  /** Without an ending: `pack-0123…`. */
  readonly name: string
  /** What is wrong with it, in one clause. */
  readonly what: string
}

const indexHead = 8
const fanOut = 1024
const packHead = 12

/**
 * Packs that are cut, or do not belong to their index: the index ends with the hash with which its pack must end. Some
 * bytes of each are read, however large they are.
 */
export function findPackFaults(path: string): PackFault[] {
  const folder = join(path, 'objects/pack')
  const names = new Set(namesIn(folder))
  const packs = [...names].filter((name) => /^pack-[0-9a-f]+\.(?:pack|idx)$/.test(name))
  const known = new Set(packs.map((name) => name.replace(/\.(?:pack|idx)$/, '')))
  const hashBytes = formatIn(path) === 'sha256' ? 32 : 20
  return [...known].sort().flatMap((name) => {
    const what = faultOf(folder, name, names, hashBytes)
    return what === undefined ? [] : [{ name, what }]
  })
}

function faultOf(
  folder: string,
  name: string,
  names: ReadonlySet<string>,
  hashBytes: number,
): string | undefined {
  const pack = `${name}.pack`
  const index = `${name}.idx`
  if (!names.has(pack)) return `the pack ${pack} is missing, whose index is there`
  if (!names.has(index)) return `the index ${index} is missing, whose pack is there`
  try {
    const ends = readEnds(join(folder, pack), packHead, hashBytes)
    const about = readEnds(join(folder, index), indexHead + fanOut, 2 * hashBytes)
    if (ends === undefined || ends.head.toString('latin1', 0, 4) !== 'PACK') {
      return `the pack ${pack} is damaged at its beginning`
    }
    if (about === undefined || about.head.readUInt32BE(0) !== 0xff744f63) {
      return `the index ${index} is damaged`
    }
    const isCut =
      about.head.readUInt32BE(indexHead + fanOut - 4) !== ends.head.readUInt32BE(8) ||
      !about.tail.subarray(0, hashBytes).equals(ends.tail)
    return isCut ? `the pack ${pack} is cut, or not the one of its index` : undefined
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    // A repack has taken it away meanwhile.
    return code === 'ENOENT' ? undefined : `the pack ${pack} cannot be read (${code})`
  }
}

/** The first and last bytes of a file; undefined for one that has not so many. */
function readEnds(path: string, first: number, last: number) {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size < first + last) return undefined
    const head = Buffer.alloc(first)
    const tail = Buffer.alloc(last)
    readSync(file, head, 0, first, 0)
    readSync(file, tail, 0, last, size - last)
    return { head, tail }
  } finally {
    closeSync(file)
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
