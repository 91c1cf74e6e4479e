import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { GitError } from '../../git/error.ts'

/** A file of an archive: its text, or where its bytes lie. */
export type Part =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly path: string }

/** Writes a gzipped tar of a few files. */
export async function writeArchive(path: string, parts: readonly Part[]): Promise<void> {
  const archive = pack()
  const written = pipeline(archive, createGzip(), createWriteStream(path, { mode: 0o600 }))
  // It may fail while a part is looked for, which is heard below; unheard meanwhile, that would end the process.
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

const LARGEST_TEXT = 64 * 1024 * 1024

/**
 * Reads the named files of a gzipped tar: texts into memory, others into the folder. Everything else is passed over, and
 * nothing is written under a name that the archive chose. More than `limit` bytes unpacked are refused.
 */
export async function readArchive(
  path: string,
  wanted: { readonly texts: readonly string[]; readonly files: readonly string[] },
  folder: string,
  limit: number,
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const reader = extract()
  const inflated = pipeline(createReadStream(path), createGunzip(), capped(limit), reader)
  inflated.catch(() => {})
  try {
    for await (const entry of reader) {
      const { name, type } = entry.header
      const plain = name.replace(/^\.\//, '')
      if (type === 'file' && wanted.texts.includes(plain)) {
        found.set(plain, await readText(entry))
      } else if (type === 'file' && wanted.files.includes(plain)) {
        const target = join(folder, plain)
        await pipeline(entry, createWriteStream(target, { mode: 0o600 }))
        found.set(plain, target)
      } else {
        entry.resume()
      }
    }
    await inflated
    return found
  } catch (error) {
    if (error instanceof GitError) throw error
    throw new GitError('invalid', 'the file is no archive that can be read')
  }
}

async function readText(entry: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const given of entry) {
    const chunk = given as Buffer // tar-stream yields bytes, its types do not say so
    size += chunk.length
    if (size > LARGEST_TEXT) throw new GitError('too_large', 'the archive is too large')
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
      if (size > limit) throw new GitError('too_large', 'the archive is too large')
      yield chunk
    }
  }
}
