import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { type Entry, type Options, open, type ZipFile } from 'yauzl'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'

const openZip = promisify<string, Options, ZipFile>(open)
const MOST_ENTRIES = 100_000

/** A file within a zip file that is being read. */
export interface ZipItem {
  readonly path: string
  /** Bytes, as the zip file says; the stream fails where that is a lie. */
  readonly size: number
  open(): Promise<Readable>
}

/**
 * Shows the files of a zip file in the store one after the other, until `see` gives false. Nothing is unpacked but what
 * `see` opens and reads to its end.
 */
export async function eachZipItem(
  ctx: Pick<Ctx, 'files'>,
  sha256: string,
  see: (item: ZipItem) => Promise<boolean>,
): Promise<void> {
  const zip = await openZip(ctx.files.pathOf(sha256), {
    lazyEntries: true,
    autoClose: false,
    decodeStrings: true,
    validateEntrySizes: true,
    strictFileNames: false,
  }).catch(() => {
    throw badRequest('The package is no valid zip file')
  })
  try {
    if (zip.entryCount > MOST_ENTRIES) throw badRequest('The package has too many files')
    await walk(zip, see)
  } finally {
    zip.close()
  }
}

function walk(zip: ZipFile, see: (item: ZipItem) => Promise<boolean>): Promise<void> {
  return new Promise((resolve, reject) => {
    zip.on('entry', (entry: Entry) => {
      see(itemOf(zip, entry)).then((goesOn) => (goesOn ? zip.readEntry() : resolve()), reject)
    })
    zip.once('end', () => resolve())
    zip.once('error', () => reject(badRequest('The package is no valid zip file')))
    zip.readEntry()
  })
}

function itemOf(zip: ZipFile, entry: Entry): ZipItem {
  const open = () =>
    new Promise<Readable>((resolve, reject) => {
      zip.openReadStream(entry, (error, stream) => {
        if (error) reject(badRequest('The package is no valid zip file'))
        else resolve(stream)
      })
    })
  return { path: entry.fileName, size: entry.uncompressedSize, open }
}

/** The text of a small file of a zip file. */
export async function readZipText(item: ZipItem, most: number): Promise<string> {
  if (item.size > most) throw badRequest(`${item.path.slice(0, 100)} is too large`)
  const chunks: Buffer[] = []
  try {
    for await (const chunk of await item.open()) chunks.push(chunk as Buffer)
  } catch {
    throw badRequest('The package is no valid zip file')
  }
  return Buffer.concat(chunks).toString('utf8')
}
