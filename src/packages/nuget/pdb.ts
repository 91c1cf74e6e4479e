import { createHash } from 'node:crypto'

/** How debuggers name a symbol file. */
export interface SymbolId {
  /** The GUID of the file in hex, and the age, which portable files always have as `FFFFFFFF`. */
  readonly signature: string
  /** SHA-256 of the file with its own id left out, as the program that it belongs to knows it. */
  readonly checksum: string
}

const MAGIC = 0x424a5342

/** Reads the id of a portable PDB (the `#Pdb` stream of ECMA-335 metadata); nothing for other files. */
export function readSymbolId(file: Buffer): SymbolId | undefined {
  try {
    const at = findStream(file, '#Pdb')
    if (at === undefined || at + 20 > file.length) return undefined
    const id = file.subarray(at, at + 20)
    const checked = Buffer.from(file)
    checked.fill(0, at, at + 20)
    const checksum = createHash('sha256').update(checked).digest('hex')
    return { signature: `${guidOf(id)}ffffffff`, checksum }
  } catch {
    // Offsets that lead out of the file.
    return undefined
  }
}

function findStream(file: Buffer, wanted: string): number | undefined {
  if (file.readUInt32LE(0) !== MAGIC) return undefined
  let at = 16 + file.readUInt32LE(12)
  const count = file.readUInt16LE(at + 2)
  at += 4
  for (let stream = 0; stream < Math.min(count, 16); stream++) {
    const offset = file.readUInt32LE(at)
    const end = file.indexOf(0, at + 8)
    if (end < 0 || end - at > 40) return undefined
    const name = file.toString('latin1', at + 8, end)
    if (name === wanted) return offset
    at = at + 8 + Math.ceil((end - at - 8 + 1) / 4) * 4
  }
  return undefined
}

/** The first three parts of a GUID are numbers with their lowest byte first. */
function guidOf(id: Buffer): string {
  const part = (start: number, end: number) => Buffer.from(id.subarray(start, end)).reverse()
  return Buffer.concat([part(0, 4), part(4, 6), part(6, 8), id.subarray(8, 16)]).toString('hex')
}
