import { clean, valid, validRange } from 'semver'
import { z } from 'zod'
import { badRequest, invalidText } from '../../base/problem.ts'
import type { ReceivedFile } from '../registry/receive.ts'
import { assertNpmName } from './names.ts'

const MOST_MANIFEST = 20_000

const publishBody = z.object({
  name: z.string(),
  versions: z.record(z.string(), z.looseObject({ name: z.string(), version: z.string() })),
  'dist-tags': z.record(z.string(), z.string()).optional(),
  _attachments: z.record(z.string(), z.object({ length: z.number().optional() })),
})

/** What a package says of one version: its package.json and what npm adds. */
export type Manifest = Readonly<Record<string, unknown>>

/** A version to publish, as the document of `npm publish` has it. */
export interface Publish {
  readonly name: string
  readonly version: string
  readonly manifest: Manifest
  readonly deprecated: string | undefined
  readonly tags: readonly string[]
}

/** Checks the document of `npm publish` against its address and its tarball (docs/contract/C-resolved §3.3). */
export function readPublish(
  document: unknown,
  name: string,
  attachments: ReadonlyMap<string, ReceivedFile>,
): Publish {
  const read = publishBody.safeParse(document)
  if (!read.success) {
    const [issue] = read.error.issues
    throw badRequest(`${issue?.path.join('.') || 'document'}: ${issue?.message ?? 'is invalid'}`)
  }
  const { versions, _attachments, 'dist-tags': tags = {} } = read.data
  const [entry, ...others] = Object.entries(versions)
  if (!entry) throw badRequest('Version is empty')
  if (others.length > 0) throw badRequest('One version is published at a time')
  const [version, manifest] = entry
  assertNpmName(name)
  if (read.data.name !== name || manifest.name !== name) {
    throw badRequest('The name of the document is not the name of its address')
  }
  if (manifest.version !== version || valid(version) === null || clean(version) !== version) {
    throw invalidText('Validation failed: Version is invalid')
  }
  const [tarball] = attachments.entries()
  if (!tarball || tarball[1].size === 0) throw badRequest('Attachment data is empty')
  assertIsTarball(manifest, tarball[1], _attachments[tarball[0]]?.length)
  return {
    name,
    version,
    manifest: storedManifest(manifest),
    deprecated: deprecationIn(manifest),
    tags: readTags(tags, version),
  }
}

/** Longest text of a deprecation. */
export const MOST_DEPRECATION = 1024

/** What a package.json says against its own version. */
export function deprecationIn({ deprecated }: Manifest): string | undefined {
  if (deprecated === true) return 'This version is deprecated'
  if (typeof deprecated !== 'string' || deprecated.trim() === '') return undefined
  return deprecated.slice(0, MOST_DEPRECATION).toWellFormed()
}

function assertIsTarball(manifest: Manifest, file: ReceivedFile, length: number | undefined): void {
  if (length !== undefined && length !== file.size) {
    throw badRequest('Attachment length does not match its data')
  }
  const { dist } = manifest
  const { shasum, integrity } = typeof dist === 'object' && dist ? (dist as Manifest) : {}
  if (shasum !== undefined && shasum !== file.sha1) {
    throw badRequest('shasum does not match the attachment')
  }
  const given =
    typeof integrity === 'string' ? /(?:^|\s)sha512-(\S+)/.exec(integrity)?.[1] : undefined
  if (given !== undefined && given.split('?')[0] !== sha512Of(file)) {
    throw badRequest('integrity does not match the attachment')
  }
}

/** SHA-512 as integrity texts write it. */
export function sha512Of(file: Pick<ReceivedFile, 'sha512'>): string {
  return Buffer.from(file.sha512 ?? '', 'hex').toString('base64')
}

/** What is known better, or belongs to the document as a whole. */
const LEFT_OUT = ['__proto__', '_id', 'deprecated', 'dist', 'readme', 'readmeFilename']

/** The manifest without that. */
export function storedManifest(manifest: Manifest): Manifest {
  const plain = Object.fromEntries(
    Object.entries(manifest).filter(([key]) => !LEFT_OUT.includes(key)),
  )
  if (JSON.stringify(plain).length > MOST_MANIFEST) {
    throw invalidText('Validation failed: Package json structure is too large')
  }
  return plain
}

function readTags(tags: Readonly<Record<string, string>>, version: string): string[] {
  const [first] = Object.entries(tags)
  if (!first) return []
  if (first[1] !== version) throw badRequest('A tag names another version than the one published')
  assertTag(first[0])
  return [first[0]]
}

/** A tag must not read as a version, or nobody could distinguish `install a@1` from `install a@latest`. */
export function assertTag(tag: string): void {
  const isPlain = /^[A-Za-z0-9][\w.-]{0,254}$/.test(tag)
  if (!isPlain || validRange(tag) !== null)
    throw invalidText('Validation failed: Tag name is invalid')
}
