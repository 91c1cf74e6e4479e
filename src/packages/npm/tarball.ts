import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { badRequest, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Publish } from './document.ts'

const MOST_JSON = 4 * 1024 * 1024
const MOST_ENTRIES = 100_000
const MOST_BYTES = 512 * 1024 * 1024

/**
 * Refuses a tarball whose package.json says something else than the document it came with, or that is no tarball. It is
 * read only as far as to that file, within limits, and nothing of it is written anywhere.
 */
export async function assertSameManifest(
  ctx: Pick<Ctx, 'files'>,
  sha256: string,
  publish: Publish,
): Promise<void> {
  const found = await readPackageJson(ctx, sha256)
  if (found.name !== publish.name || found.version !== publish.version) {
    throw badRequest('package.json in the tarball has another name or version')
  }
  for (const key of ['dependencies', 'scripts'] as const) {
    if (!isSame(key, found[key], publish.manifest[key])) {
      throw badRequest(`package.json in the tarball has other ${key}`)
    }
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {}
  throw badRequest('package.json in the tarball is not valid JSON')
}

/** npm adds the dependencies that are optional to the others, and an install script of its own for gyp files. */
function isSame(key: 'dependencies' | 'scripts', inTarball: unknown, given: unknown): boolean {
  const own = asTexts(inTarball)
  const said = asTexts(given)
  if (key === 'scripts') {
    return ['preinstall', 'install', 'postinstall'].every(
      (name) => own[name] === undefined || own[name] === said[name],
    )
  }
  return Object.entries(own).every(
    ([name, range]) => said[name] === undefined || said[name] === range,
  )
}

function asTexts(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Thrown to stop reading once the file is found. */
class Found extends Error {}

/** The package.json of a tarball in the file store. */
export async function readPackageJson(
  ctx: Pick<Ctx, 'files'>,
  sha256: string,
): Promise<Readonly<Record<string, unknown>>> {
  return parse(await readText(ctx, sha256))
}

async function readText(ctx: Pick<Ctx, 'files'>, sha256: string): Promise<string> {
  const { body } = await ctx.files.open(sha256)
  const tar = extract()
  let text: string | undefined
  let entries = 0
  let bytes = 0
  tar.on('entry', (header, stream, next) => {
    entries += 1
    bytes += header.size ?? 0
    stream.on('error', () => {})
    if (entries > MOST_ENTRIES || bytes > MOST_BYTES) {
      tar.destroy(badRequest('The tarball is too large'))
    } else if (header.type === 'file' && /^[^/]+\/package\.json$/.test(header.name)) {
      collect(stream, header.size ?? 0).then(
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
    await pipeline(body, createGunzip(), tar)
  } catch (error) {
    if (error instanceof Problem) throw error
    if (text === undefined) throw badRequest('The attachment is not a gzipped tarball')
  }
  if (text === undefined) throw badRequest('The tarball has no package.json')
  return text
}

async function collect(stream: AsyncIterable<unknown>, size: number): Promise<string> {
  if (size > MOST_JSON) throw badRequest('package.json in the tarball is too large')
  const chunks: Buffer[] = []
  for await (const chunk of stream) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
