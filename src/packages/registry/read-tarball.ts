import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { badRequest, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'

const MOST_ENTRIES = 100_000
const MOST_BYTES = 512 * 1024 * 1024

/** Which file of a tarball is wanted. */
export interface TarballFile {
  readonly path: RegExp
  /** What refusals call it. */
  readonly name: string
  /** Bytes. */
  readonly most: number
}

/** Thrown to stop reading once the file is found. */
class Found extends Error {}

/**
 * The text of the first such file in a gzipped tarball of the file store; 400 when there is none or it is no tarball. It
 * is read only as far as to that file, within limits, and nothing of it is written anywhere.
 */
export async function readTarballFile(
  ctx: Pick<Ctx, 'files'>,
  sha256: string,
  wanted: TarballFile,
): Promise<string> {
  const { body } = await ctx.files.open(sha256)
  const tar = extract()
  let text: string | undefined
  let entries = 0
  tar.on('entry', (header, stream, next) => {
    entries += 1
    stream.on('error', () => {})
    if (entries > MOST_ENTRIES || (header.size ?? 0) > MOST_BYTES) {
      tar.destroy(badRequest('The tarball is too large'))
    } else if (header.type === 'file' && wanted.path.test(header.name)) {
      collect(stream, header.size ?? 0, wanted).then(
        (found) => {
          text = found
          tar.destroy(new Found())
        },
        (error: Error) => tar.destroy(error),
      )
    } else {
      stream.resume()
      stream.on('end', next)
    }
  })
  try {
    await pipeline(body, createGunzip(), capped(), tar)
  } catch (error) {
    if (error instanceof Problem) throw error
    if (text === undefined) throw badRequest('The attachment is not a gzipped tarball')
  }
  if (text === undefined) throw badRequest(`The tarball has no ${wanted.name}`)
  return text
}

/** Small files may expand to much. */
function capped(): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > MOST_BYTES) done(badRequest('The tarball is too large'))
      else done(null, chunk)
    },
  })
}

async function collect(
  stream: AsyncIterable<unknown>,
  size: number,
  { name, most }: TarballFile,
): Promise<string> {
  if (size > most) throw badRequest(`${name} in the tarball is too large`)
  const chunks: Buffer[] = []
  for await (const chunk of stream) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
