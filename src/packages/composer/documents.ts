import { createHash } from 'node:crypto'
import type { Ctx } from '../../ctx.ts'
import { type ReadyDocument, readDocument, readyDocument } from '../registry/documents.ts'
import type { ComposerMetadata } from './publish-ref.ts'
import { type ComposerVersion, findProjectWith, listNames, listVersions } from './queries.ts'

const MOST_NAMES = 10_000

type Reader = Pick<Ctx, 'db' | 'actor' | 'now' | 'config'>

/** The metadata of one name, as Composer 2 and, by its hash, Composer 1 ask for it; nothing when nobody has it. */
export async function readName(
  ctx: Reader,
  groupId: number,
  name: string,
): Promise<ReadyDocument | undefined> {
  const project = await findProjectWith(ctx, groupId, name)
  if (project === undefined) return undefined
  const { project_id: projectId, full_path, visibility } = project
  // The address of the sources follows the project.
  const form = `metadata ${visibility} ${full_path}`
  const key = { projectId, type: 'composer', nameKey: name, form } as const
  return await readDocument(ctx, key, () => makeName(ctx, projectId, name))
}

async function makeName(
  ctx: Pick<Ctx, 'db' | 'config'>,
  projectId: number,
  name: string,
): Promise<string | undefined> {
  const rows = await listVersions(ctx.db, projectId, name)
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
  for (const { project_id, name_key } of await listNames(ctx, groupId, MOST_NAMES)) {
    const text = await makeName(ctx, project_id, name_key)
    if (text !== undefined) providers[name_key] = { sha256: hashOf(text) }
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
  const project = await findProjectWith(ctx, groupId, name)
  const text = project && (await makeName(ctx, project.project_id, name))
  return text !== undefined && hashOf(text) === sha256 ? await readyDocument(text) : undefined
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
