import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { type Entry, fromBuffer, type Options, type ZipFile } from 'yauzl'

const openZip = promisify<Buffer, Options, ZipFile>(fromBuffer)

/** The texts in a zip file by their names; of a link, where it leads. */
export async function unzipped(bytes: Buffer): Promise<Readonly<Record<string, string>>> {
  const zip = await openZip(bytes, { lazyEntries: true })
  const found: Record<string, string> = {}
  await new Promise<void>((resolve, reject) => {
    zip.on('entry', (entry: Entry) => {
      zip.openReadStream(entry, (error, stream) => {
        if (error) return reject(error)
        buffer(stream).then((text) => {
          found[entry.fileName] = text.toString('utf8')
          zip.readEntry()
        }, reject)
      })
    })
    zip.once('end', () => resolve())
    zip.once('error', reject)
    zip.readEntry()
  })
  return found
}
