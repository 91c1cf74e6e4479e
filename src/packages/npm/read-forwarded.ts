import { workerTask } from '../../base/workers/worker-task.ts'
import { isNpmName, tarballName } from './names.ts'

/*
 * Runs in a worker: metadata of a public registry may be tens of megabytes. What is no such metadata gives nothing.
 */

type Fields = Readonly<Record<string, unknown>>

interface Versions {
  readonly document: Fields
  readonly versions: Fields
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function read(text: string): Versions | undefined {
  try {
    const document: unknown = JSON.parse(text)
    if (isFields(document) && isFields(document.versions)) {
      return { document, versions: document.versions }
    }
  } catch {}
  return undefined
}

interface Rewrite {
  readonly text: string
  readonly name: string
  /** The address below which the tarballs are. */
  readonly root: string
}

/** The metadata with tarballs at an address of ours. */
export const rewriteMetadata = workerTask(({ text, name, root }: Rewrite): string | undefined => {
  const found = read(text)
  if (!found || !isNpmName(name)) return undefined
  const versions = Object.entries(found.versions).flatMap(([version, manifest]) => {
    if (!isFields(manifest) || !isFields(manifest.dist)) return []
    const tarball = `${root}/${name}/-/${tarballName(name.split('/').at(-1) ?? '', version)}`
    return [[version, { ...manifest, dist: { ...manifest.dist, tarball } }]]
  })
  return JSON.stringify({ ...found.document, versions: Object.fromEntries(versions) })
})

/** Where the tarball of a version is, and what its bytes hash to. */
export interface ForwardedDist {
  readonly url: string
  readonly sum?: { readonly kind: 'sha512' | 'sha1'; readonly hex: string }
}

/** What the metadata says of the tarball of a version. */
export const readDist = workerTask(
  ({ text, version }: { readonly text: string; readonly version: string }) => {
    const found = read(text)
    if (!found) return undefined
    const manifest = Object.hasOwn(found.versions, version) ? found.versions[version] : undefined
    const dist = isFields(manifest) && isFields(manifest.dist) ? manifest.dist : {}
    const { tarball, integrity, shasum } = dist
    const isAddress = typeof tarball === 'string' && /^https?:\/\//.test(tarball)
    if (!isAddress || !URL.canParse(tarball)) return 'none'
    return { url: tarball, ...sumOf(integrity, shasum) } satisfies ForwardedDist
  },
)

function sumOf(integrity: unknown, shasum: unknown): Pick<ForwardedDist, 'sum'> {
  const [, sha512] = /(?:^|\s)sha512-([A-Za-z0-9+/]{86}==)/.exec(String(integrity ?? '')) ?? []
  if (sha512 !== undefined) {
    return { sum: { kind: 'sha512', hex: Buffer.from(sha512, 'base64').toString('hex') } }
  }
  return typeof shasum === 'string' && /^[0-9a-f]{40}$/i.test(shasum)
    ? { sum: { kind: 'sha1', hex: shasum.toLowerCase() } }
    : {}
}
