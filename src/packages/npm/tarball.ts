import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { readTarballFile } from '../registry/read-tarball.ts'
import type { Publish } from './document.ts'

const MANIFEST = { path: /^[^/]+\/package\.json$/, name: 'package.json', most: 4 * 1024 * 1024 }

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

/** The package.json of a tarball in the file store. */
export async function readPackageJson(
  ctx: Pick<Ctx, 'files'>,
  sha256: string,
): Promise<Readonly<Record<string, unknown>>> {
  return parse(await readTarballFile(ctx, sha256, MANIFEST))
}
