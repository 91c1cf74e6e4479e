import { imageProblem } from './problem.ts'

/** What a manifest says of itself and of what it names. */
export interface Manifest {
  readonly mediaType: string
  readonly artifactType: string | null
  /** Blobs that must be here before it. */
  readonly blobs: readonly Descriptor[]
  /** Manifests of an index, which must be here before it. */
  readonly children: readonly Descriptor[]
  readonly subject: string | null
  readonly annotations: Readonly<Record<string, string>> | null
}

export interface Descriptor {
  readonly sha256: string
  readonly size: number
}

type Json = Readonly<Record<string, unknown>>

const OCI = 'application/vnd.oci.image.manifest.v1+json'
const OCI_INDEX = 'application/vnd.oci.image.index.v1+json'
const DOCKER = 'application/vnd.docker.distribution.manifest.v2+json'
const DOCKER_LIST = 'application/vnd.docker.distribution.manifest.list.v2+json'
const MOST = 4 * 1024 * 1024
const MOST_ENTRIES = 2000

export const MOST_MANIFEST = MOST

/** Reads a manifest or index; what does not fit its type is refused. */
export function readManifest(bytes: Buffer, contentType: string | undefined): Manifest {
  const json = parse(bytes)
  const mediaType = typeOf(json, contentType)
  const own = typeof json.artifactType === 'string' ? json.artifactType : null
  const common = {
    mediaType,
    artifactType: own ?? mediaTypeOf(json.config),
    subject: json.subject === undefined ? null : descriptor(json.subject).sha256,
    annotations: annotationsOf(json.annotations),
  }
  if (mediaType === OCI_INDEX || mediaType === DOCKER_LIST) {
    return { ...common, blobs: [], children: listOf(json.manifests).map(descriptor) }
  }
  const layers = listOf(json.layers).filter((layer) => !isForeign(layer))
  return { ...common, blobs: [descriptor(json.config), ...layers.map(descriptor)], children: [] }
}

const KNOWN: ReadonlySet<string> = new Set([OCI, OCI_INDEX, DOCKER, DOCKER_LIST])

function typeOf(json: Json, contentType: string | undefined): string {
  const given = (contentType ?? '').split(';', 1)[0]?.trim() ?? ''
  const mediaType = typeof json.mediaType === 'string' ? json.mediaType : given
  if (json.schemaVersion !== 2 || !KNOWN.has(mediaType)) {
    throw invalid('the media type is not supported')
  }
  if (given !== '' && given !== 'application/json' && given !== mediaType) {
    throw invalid('the content type is another one than in the manifest')
  }
  return mediaType
}

function invalid(message: string) {
  return imageProblem('MANIFEST_INVALID', 400, message)
}

function parse(bytes: Buffer): Json {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json
  } catch {}
  throw invalid('the manifest is no JSON object')
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid('the manifest has no list of what it names')
  if (value.length > MOST_ENTRIES) throw invalid('the manifest names too much')
  return value
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

function descriptor(value: unknown): Descriptor {
  const { digest, size } = objectOf(value)
  const [, sha256] = /^sha256:([0-9a-f]{64})$/.exec(String(digest)) ?? []
  const isSize = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0
  if (sha256 === undefined || !isSize) throw invalid('a descriptor is invalid')
  return { sha256, size }
}

/** Layers that are not distributed come from elsewhere. */
function isForeign(layer: unknown): boolean {
  const { urls, mediaType } = objectOf(layer)
  return (
    Array.isArray(urls) && urls.length > 0 && /foreign|nondistributable/.test(String(mediaType))
  )
}

function mediaTypeOf(config: unknown): string | null {
  const { mediaType } = objectOf(config)
  return typeof mediaType === 'string' ? mediaType : null
}

function annotationsOf(value: unknown): Readonly<Record<string, string>> | null {
  if (value === undefined || value === null) return null
  const pairs = Object.entries(objectOf(value))
  if (pairs.some(([, text]) => typeof text !== 'string')) throw invalid('annotations are texts')
  return Object.fromEntries(pairs) as Record<string, string> // each is a text
}
