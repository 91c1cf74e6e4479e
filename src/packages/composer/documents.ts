import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { Ctx } from '../../ctx.ts'
import type { DocumentKey } from '../registry/document-queries.ts'
import { type ReadyDocument, readDocument, readyDocument } from '../registry/documents.ts'
import type { ComposerMetadata } from './publish-ref.ts'
import { type ComposerVersion, findProjectWith, listNames, listVersions } from './queries.ts'

const MOST_NAMES = 10_000
const MOST_BYTES = 8 * 1024 * 1024

type Reader = Pick<Ctx, 'db' | 'actor' | 'now' | 'config'>

interface Place {
  readonly project_id: number
  readonly full_path: string
  readonly visibility: string
}

/** The address of the sources follows the project. */
function keyOf(place: Place, name: string, what: 'metadata' | 'hash'): DocumentKey {
  const form = `${what} ${place.visibility} ${place.full_path}`
  return { projectId: place.project_id, type: 'composer', nameKey: name, form }
}

/** The metadata of one name, as Composer 2 and, by its hash, Composer 1 ask for it; nothing when nobody has it. */
export async function readName(
  ctx: Reader,
  groupId: number,
  name: string,
): Promise<ReadyDocument | undefined> {
  const place = await findProjectWith(ctx, groupId, name)
  return place && (await readMetadata(ctx, place, name))
}

function readMetadata(ctx: Reader, place: Place, name: string): Promise<ReadyDocument | undefined> {
  const make = () => makeName(ctx, place.project_id, name)
  return readDocument(ctx, keyOf(place, name, 'metadata'), make)
}

/** The hash of the metadata of a name, kept by itself: whoever asks for those of all names reads no metadata. */
async function readHash(ctx: Reader, place: Place, name: string): Promise<string | undefined> {
  const document = await readDocument(ctx, keyOf(place, name, 'hash'), async () => {
    const text = await makeName(ctx, place.project_id, name)
    return text && hashOf(text)
  })
  return document && gunzipSync(document.content).toString()
}

async function makeName(
  ctx: Pick<Ctx, 'db' | 'config'>,
  projectId: number,
  name: string,
): Promise<string | undefined> {
  const rows = await listVersions(ctx.db, projectId, name, MOST_BYTES)
  const [first] = rows
  if (!first) return undefined
  const versions = rows.map((row) => [row.version ?? '', present(ctx, row)])
  return JSON.stringify({ packages: { [first.name]: Object.fromEntries(versions) } })
}

function present(ctx: Pick<Ctx, 'config'>, row: ComposerVersion): Record<string, unknown> {
  const { sha, json } = JSON.parse(row.content) as ComposerMetadata // written when it was published
  const { externalUrl } = ctx.config
  const root = `${externalUrl}/api/v4/projects/${row.project_id}/packages/composer`
  const host = new URL(externalUrl).hostname
  const isOpen = row.visibility === 'public'
  const clone = isOpen ? `${externalUrl}/${row.full_path}.git` : `git@${host}:${row.full_path}.git`
  return {
    ...json,
    version: row.version,
    uid: row.id,
    dist: {
      type: 'zip',
      url: `${root}/archives/${row.name}.zip?sha=${sha}`,
      reference: sha,
      shasum: '',
    },
    source: { type: 'git', url: clone, reference: sha },
  }
}

/** Which packages there are and the hash of the metadata of each, as Composer 1 wants them. */
async function makeProviders(ctx: Reader, groupId: number): Promise<string> {
  const providers: Record<string, { sha256: string }> = {}
  for (const { name_key, ...place } of await listNames(ctx, groupId, MOST_NAMES)) {
    const sha256 = await readHash(ctx, place, name_key)
    if (sha256 !== undefined) providers[name_key] = { sha256 }
  }
  return JSON.stringify({ providers })
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The providers of a group, if this is their hash. */
export async function readProviders(
  ctx: Reader,
  groupId: number,
  sha256: string,
): Promise<ReadyDocument | undefined> {
  const text = await makeProviders(ctx, groupId)
  return hashOf(text) === sha256 ? await readyDocument(text) : undefined
}

/** The metadata of a name for Composer 1, if this is its hash. */
export async function readHashedName(
  ctx: Reader,
  groupId: number,
  name: string,
  sha256: string,
): Promise<ReadyDocument | undefined> {
  const place = await findProjectWith(ctx, groupId, name)
  if (place === undefined || (await readHash(ctx, place, name)) !== sha256) return undefined
  return await readMetadata(ctx, place, name)
}

/** What a client reads first: where metadata is. */
export async function readRoot(
  ctx: Reader,
  groupId: number,
  userAgent: string,
): Promise<ReadyDocument> {
  const at = `${new URL(ctx.config.externalUrl).pathname.replace(/\/$/, '')}/api/v4/group/${groupId}`
  const root = `${at}/-/packages/composer`
  const second = { packages: [], 'metadata-url': `${root}/p2/%package%.json` }
  if (userAgent.includes('Composer/2')) return await readyDocument(JSON.stringify(second))
  const hash = hashOf(await makeProviders(ctx, groupId))
  const first = {
    ...second,
    'provider-includes': { 'p/%hash%.json': { sha256: hash } },
    'providers-url': `${root}/%package%$%hash%.json`,
  }
  return await readyDocument(JSON.stringify(first))
}
