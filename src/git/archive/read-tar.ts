import type { Readable } from 'node:stream'
import { type Extract, extract } from 'tar-stream'
import type { Item } from './items.ts'

/** Smaller files are handed out in one piece. */
const wholeUpTo = 1024 * 1024

type Entry = Extract extends AsyncIterable<infer Found> ? Found : never

/**
 * The things in a tar file that `git archive` writes, one after the other; a file's body is read before
 * the next is asked for. `top` is the one folder that holds them all.
 */
export async function* readTarItems(source: Readable, top: string): AsyncGenerator<Item> {
  const entries = extract()
  // Whoever reads gets errors by reading; without a listener one would end the process.
  entries.on('error', () => {})
  source.on('error', (error) => entries.destroy(error))
  source.pipe(entries)
  try {
    for await (const entry of entries) {
      const item = await asItem(entry, top)
      if (item) yield item
      entry.resume()
    }
  } finally {
    source.destroy()
    entries.destroy()
  }
}

async function asItem(entry: Entry, top: string): Promise<Item | undefined> {
  const { name, type, mode = 0, size = 0, linkname } = entry.header
  const path = name.slice(top.length + 1).replace(/\/$/, '')
  if (path === '') return undefined
  if (type === 'directory') return { kind: 'folder', path }
  if (type === 'symlink') return { kind: 'link', path, target: linkname ?? '' }
  const executable = (mode & 0o111) !== 0
  const body = size > wholeUpTo ? piecesOf(entry) : await wholeOf(entry)
  return { kind: 'file', path, executable, size, body }
}

async function* piecesOf(entry: Entry): AsyncGenerator<Buffer> {
  for await (const piece of entry) yield piece as Buffer
}

async function wholeOf(entry: Entry): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of piecesOf(entry)) pieces.push(piece)
  return Buffer.concat(pieces)
}
