import type { Readable } from 'node:stream'
import { valid } from 'semver'
import type { Project } from '../../access/subjects.ts'
import { badRequest, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { publishFile } from '../registry/publish.ts'
import { storeFile } from '../registry/receive.ts'
import { deprecationIn, storedManifest } from './document.ts'
import { assertNpmName, tarballName } from './names.ts'
import { readPackageJson } from './tarball.ts'

/** Publishes a tarball by what its own package.json says. */
export async function importNpmTarball(
  ctx: Ctx,
  project: Project,
  source: Readable,
): Promise<'imported' | 'known'> {
  const received = await storeFile(ctx, 'npm', source, { sha512: true })
  const manifest = await readPackageJson(ctx, received.sha256)
  const { name, version } = manifest
  if (typeof name !== 'string' || typeof version !== 'string' || valid(version) !== version) {
    throw badRequest('package.json has no valid name and version')
  }
  assertNpmName(name)
  const known = new Problem('conflict', 409, { message: 'Package already exists.' })
  try {
    await publishFile(ctx, project, {
      type: 'npm',
      name,
      version,
      metadata: storedManifest(manifest),
      deprecated: deprecationIn(manifest),
      file: { name: tarballName(name, version), received },
      refuse: () => known,
    })
    return 'imported'
  } catch (error) {
    if (error === known) return 'known'
    throw error
  }
}
