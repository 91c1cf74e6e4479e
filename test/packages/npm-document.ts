import { createHash } from 'node:crypto'
import { tarballOf } from './tarball.ts'

export interface DocumentOptions {
  readonly manifest?: Record<string, unknown>
  readonly inTarball?: Record<string, unknown>
  readonly tag?: string
  readonly tarball?: Buffer
}

/** The document that `npm publish` sends. */
export async function documentOf(name: string, version: string, given: DocumentOptions = {}) {
  const manifest = { name, version, ...given.manifest }
  const own = JSON.stringify(given.inTarball ?? manifest)
  const tarball = given.tarball ?? (await tarballOf({ 'package/package.json': own }))
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
  const shasum = createHash('sha1').update(tarball).digest('hex')
  return {
    _id: name,
    name,
    'dist-tags': { [given.tag ?? 'latest']: version },
    versions: { [version]: { ...manifest, dist: { integrity, shasum, tarball: 'http://x/y' } } },
    _attachments: {
      [`${name}-${version}.tgz`]: {
        content_type: 'application/octet-stream',
        data: tarball.toString('base64'),
        length: tarball.length,
      },
    },
  }
}
