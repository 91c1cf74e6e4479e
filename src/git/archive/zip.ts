import { Readable } from 'node:stream'
import type archiver from 'archiver'
import type { Item } from './items.ts'
import type { ArchiveFrame } from './tar.ts'

type Zip = archiver.Archiver

/** Adds an entry and waits until it is written: one at a time, so that memory stays flat. */
function add(zip: Zip, append: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      zip.off('error', reject)
      resolve()
    }
    zip.once('entry', done)
    zip.once('error', reject)
    append()
  })
}

async function addItem(zip: Zip, frame: ArchiveFrame, item: Item): Promise<void> {
  const name = `${frame.name}/${item.path}`
  const date = frame.time
  if (item.kind === 'folder') {
    await add(zip, () => zip.append('', { name: `${name}/`, date, mode: 0o755 }))
  } else if (item.kind === 'link') {
    await addLink(zip, frame, name, item.target)
  } else {
    const body = Buffer.isBuffer(item.body) ? item.body : streamOf(zip, item.body)
    const mode = item.executable ? 0o755 : 0o644
    await add(zip, () => zip.append(body, { name, date, mode }))
  }
}

/** A file as a stream; its failure is that of the archive, also when nobody reads either any more. */
function streamOf(zip: Zip, pieces: AsyncIterable<Buffer>): Readable {
  const stream = Readable.from(pieces, { objectMode: false })
  stream.on('error', (error) => zip.destroy(error))
  return stream
}

/** archiver's own `symlink` takes no date; the entry behind it does. */
function addLink(zip: Zip, { time }: ArchiveFrame, name: string, target: string): Promise<void> {
  const data = { name, date: time, mode: 0o777, type: 'symlink', linkname: target }
  return add(zip, () => zip.append('', data as archiver.EntryData))
}

/** A zip file with the same things in it as `git archive --format=zip`; with `top` off, without the folder at the top. */
export async function* zip(
  items: AsyncIterable<Item>,
  frame: ArchiveFrame,
  { top = true }: { readonly top?: boolean } = {},
): AsyncGenerator<Buffer> {
  // Times in UTC: local time would make the bytes depend on the machine.
  const options = { zlib: { level: 6 }, forceUTC: true, comment: frame.commitId }
  // Loaded by the first zip: processes that pack none, the main one above all, need not hold it.
  const { default: make } = await import('archiver')
  const archive = make('zip', options)
  // Whoever reads gets errors by reading; without a listener one would end the process.
  archive.on('error', () => {})
  const adding = (async () => {
    const folder = { name: `${frame.name}/`, date: frame.time }
    if (top) await add(archive, () => archive.append('', folder))
    for await (const item of items) await addItem(archive, frame, item)
    await archive.finalize()
  })().catch((error: Error) => archive.destroy(error))
  try {
    for await (const chunk of archive) yield chunk as Buffer
    await adding
  } finally {
    archive.destroy()
  }
}
