import { clean } from 'semver'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { readTarballFile } from '../registry/read-tarball.ts'
import type { Manifest, Publish } from './document.ts'

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
  // npm publishes `v1.0.0` as 1.0.0.
  if (found.name !== publish.name || clean(String(found.version)) !== publish.version) {
    throw badRequest('package.json in the tarball has another name or version')
  }
  if (!hasSameDependencies(found, publish.manifest)) {
    throw badRequest('package.json in the tarball has other dependencies')
  }
  if (!hasSameScripts(found, publish.manifest)) {
    throw badRequest('package.json in the tarball has other scripts')
  }
}

function parse(text: string): Manifest {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Manifest
  } catch {}
  throw badRequest('package.json in the tarball is not valid JSON')
}

/** npm adds an install script of its own for gyp files. */
function hasSameScripts(found: Manifest, given: Manifest): boolean {
  const [own, said] = [fieldsOf(found.scripts), fieldsOf(given.scripts)]
  return ['preinstall', 'install', 'postinstall'].every(
    (name) => own[name] === undefined || own[name] === said[name],
  )
}

/** Those that are optional stand among the others, or do not: each npm has it another way. */
function hasSameDependencies(found: Manifest, given: Manifest): boolean {
  const optional = fieldsOf(found.optionalDependencies)
  const needed = ({ dependencies }: Manifest) =>
    Object.entries(fieldsOf(dependencies)).filter(([name]) => !Object.hasOwn(optional, name))
  const own = needed(found)
  const said = new Map(needed(given))
  return own.length === said.size && own.every(([name, range]) => isSame(range, said.get(name)))
}

/** Addresses of sources are written out by npm (`user/repo` is `github:user/repo`). */
function isSame(own: unknown, said: unknown): boolean {
  const isAddress = (text: unknown) => /^(?!npm:).*[/:]/.test(String(text ?? ''))
  return own === said || (isAddress(own) && isAddress(said))
}

function fieldsOf(value: unknown): Manifest {
  return typeof value === 'object' && value !== null ? (value as Manifest) : {}
}

/** The package.json of a tarball in the file store. */
export async function readPackageJson(ctx: Pick<Ctx, 'files'>, sha256: string): Promise<Manifest> {
  return parse(await readTarballFile(ctx, sha256, MANIFEST))
}
