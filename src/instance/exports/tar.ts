import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { isDiskFull } from '../../base/full-disk.ts'
import { Problem } from '../../base/problem.ts'
import { GitError } from '../../git/error.ts'

/** A file of an archive: its text, or where its bytes lie. */
export type Part =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly path: string }

/** Writes a gzipped tar of a few files. */
export async function writeArchive(path: string, parts: readonly Part[]): Promise<void> {
  const archive = pack()
  const written = pipeline(archive, createGzip(), createWriteStream(path, { mode: 0o600 }))
  // It may fail while a part is looked for, which is handled below; without a listener meanwhile, that would end the process.
  written.catch(() => {})
  try {
    for (const part of parts) {
      if ('text' in part) {
        archive.entry({ name: part.name }, part.text)
        continue
      }
      const { size } = await stat(part.path)
      await pipeline(createReadStream(part.path), archive.entry({ name: part.name, size }))
    }
    archive.finalize()
  } catch (error) {
    archive.destroy(error as Error)
  }
  await written
}

/** What is read of an archive. */
interface Wanted {
  readonly texts: readonly string[]
  readonly files: readonly string[]
  /** Others, which go where `keep` brings them; so many bytes of them do not count. */
  readonly take?: {
    readonly mostBytes: number
    isWanted(name: string): boolean
    keep(name: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<void>
  }
}

const LARGEST_TEXT = 64 * 1024 * 1024

/**
 * Reads the named files of a gzipped tar: texts into memory, others into the folder. Everything else is passed over, and
 * nothing is written under a name that the archive chose. More than `limit` bytes unpacked are refused.
 */
export async function readArchive(
  path: string,
  wanted: Wanted,
  folder: string,
  limit: number,
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const reader = extract()
  const inflated = pipeline(
    createReadStream(path),
    createGunzip(),
    capped(limit + (wanted.take?.mostBytes ?? 0)),
    reader,
  )
  inflated.catch(() => {})
  try {
    const left = { taken: wanted.take?.mostBytes ?? 0, others: limit }
    for await (const entry of reader) await takeEntry(entry, { wanted, folder, left, found })
    await inflated
    return found
  } catch (error) {
    if (error instanceof GitError || error instanceof Problem || isDiskFull(error)) throw error
    throw new GitError('invalid', 'the file is no archive that can be read')
  }
}

interface Reading {
  readonly wanted: Wanted
  readonly folder: string
  /** Bytes that may still come. */
  readonly left: { taken: number; others: number }
  readonly found: Map<string, string>
}

type Entry = ReturnType<typeof extract> extends AsyncIterable<infer E> ? E : never

async function takeEntry(entry: Entry, { wanted, folder, left, found }: Reading): Promise<void> {
  const { name, type, size = 0 } = entry.header
  const plain = name.replace(/^\.\//, '')
  const isTaken = type === 'file' && wanted.take?.isWanted(plain) === true
  left[isTaken ? 'taken' : 'others'] -= size
  if (left.taken < 0 || left.others < 0) throw tooLarge()
  if (type !== 'file') {
    entry.resume()
  } else if (wanted.texts.includes(plain)) {
    found.set(plain, await readText(entry))
  } else if (wanted.files.includes(plain)) {
    const target = join(folder, plain)
    await pipeline(entry, createWriteStream(target, { mode: 0o600 }))
    found.set(plain, target)
  } else if (isTaken) {
    // tar-stream yields bytes, its types do not say so.
    await wanted.take?.keep(
      plain,
      size,
      entry as AsyncIterable<unknown> as AsyncIterable<Uint8Array>,
    )
  } else {
    entry.resume()
  }
}

const tooLarge = () => new GitError('too_large', 'the archive is too large')

async function readText(entry: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const given of entry) {
    const chunk = given as Buffer // tar-stream yields bytes, its types do not say so
    size += chunk.length
    if (size > LARGEST_TEXT) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Passes bytes on until there are too many. */
function capped(limit: number) {
  return async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let size = 0
    for await (const chunk of source) {
      size += chunk.length
      if (size > limit) throw tooLarge()
      yield chunk
    }
  }
}
