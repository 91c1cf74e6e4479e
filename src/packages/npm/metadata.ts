import { createHash } from 'node:crypto'
import { rcompare } from 'semver'
import type { Ctx } from '../../ctx.ts'
import { type ReadyDocument, readDocument, readyDocument } from '../registry/documents.ts'
import type { SearchedPlace } from '../registry/place-queries.ts'
import { type Manifest, sha512Of } from './document.ts'
import { tarballName } from './names.ts'
import { listTags, listVersions, type VersionRow } from './queries.ts'

/** Of the manifests in one document. */
export const MOST_BYTES = 16 * 1024 * 1024

/** The whole document, or the short one that clients ask for when they install. */
export type Form = 'full' | 'short'

/** The one package name that is asked for, in the projects that have it; the newest upload first. */
export interface NpmPlace {
  readonly name: string
  readonly projectIds: readonly number[]
  /** Where they were looked for; nowhere, where the whole server is asked for a name without a scope. */
  readonly within?: SearchedPlace
  /** The group that was asked, or the one of the project. */
  readonly namespaceId?: number
}

/** The metadata document of a package; nothing when there is no such package. Of several projects, versions merge. */
export async function readNpmMetadata(
  ctx: Ctx,
  { name, projectIds }: NpmPlace,
  form: Form,
): Promise<ReadyDocument | undefined> {
  const [projectId, ...others] = projectIds
  if (projectId === undefined) return undefined
  if (others.length === 0) {
    const key = { projectId, type: 'npm', nameKey: name, form } as const
    return await readDocument(ctx, key, () => makeMetadata(ctx, [projectId], name, form))
  }
  const text = await makeMetadata(ctx, projectIds, name, form)
  return text === undefined ? undefined : readyDocument(text)
}

async function makeMetadata(
  ctx: Ctx,
  projectIds: readonly number[],
  name: string,
  form: Form,
): Promise<string | undefined> {
  const rows = await listVersions(ctx.db, projectIds, name, MOST_BYTES)
  if (rows.length === 0) return undefined
  // Of one version in several projects, the latest upload wins.
  const byVersion = new Map(rows.map((row) => [row.version ?? '', row]))
  const versions = [...byVersion].map(([version, row]) => [version, present(ctx, name, row, form)])
  // A tag of a version that the document has no room for would lead clients to nothing.
  const tags = await readTags(ctx, { name, projectIds }, [...byVersion.keys()])
  const document = {
    name,
    ...(form === 'full' ? { _id: name, _rev: revisionOf(rows) } : {}),
    'dist-tags': Object.fromEntries(Object.entries(tags).filter(([, one]) => byVersion.has(one))),
    versions: Object.fromEntries(versions),
    modified: rows
      .map((row) => row.updated_at)
      .sort()
      .at(-1),
    ...(form === 'full' ? { time: timesOf(rows) } : {}),
  }
  return JSON.stringify(document)
}

/** Which versions a document is of, by one word: whoever changes it says which one they have seen. */
export function revisionOf(rows: readonly { readonly id: number }[]): string {
  const ids = rows.map((row) => row.id).join()
  return `${rows.length}-${createHash('sha256').update(ids).digest('hex').slice(0, 32)}`
}

function timesOf(rows: readonly VersionRow[]): Record<string, string> {
  const created = rows.map((row) => row.created_at).sort()
  return {
    created: created[0] ?? '',
    modified:
      rows
        .map((row) => row.updated_at)
        .sort()
        .at(-1) ?? '',
    ...Object.fromEntries(rows.map((row) => [row.version ?? '', row.created_at])),
  }
}

/** The tags of a package; without `latest`, the highest version has it. */
export async function readTags(
  ctx: Pick<Ctx, 'db'>,
  { name, projectIds }: NpmPlace,
  versions: readonly string[],
): Promise<Record<string, string>> {
  const rows = await listTags(ctx.db, projectIds, name)
  const tags = Object.fromEntries(rows.map((row) => [row.name, row.version ?? '']))
  const latest = tags.latest ?? highest(versions)
  return latest === undefined ? tags : { latest, ...tags }
}

/** The highest version that is no pre-release, else the highest. */
function highest(versions: readonly string[]): string | undefined {
  const sorted = [...versions].sort(rcompare)
  return sorted.find((version) => !version.includes('-')) ?? sorted[0]
}

/** What a client needs to install, and no more. */
const SHORT = [
  'name',
  'version',
  'dependencies',
  'optionalDependencies',
  'devDependencies',
  'bundleDependencies',
  'bundledDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'bin',
  'directories',
  'engines',
  'os',
  'cpu',
  'libc',
  'funding',
  '_hasShrinkwrap',
] as const

function present(ctx: Ctx, name: string, row: VersionRow, form: Form): Manifest {
  const manifest = JSON.parse(row.content) as Manifest // written by us as an object
  const root = `${ctx.config.externalUrl}/api/v4/projects/${row.project_id}/packages/npm`
  const added = {
    ...(form === 'full' ? { _id: `${name}@${row.version}` } : {}),
    ...(hasInstallScript(manifest) ? { hasInstallScript: true } : {}),
    ...(row.status === 'deprecated' ? { deprecated: row.status_message ?? '' } : {}),
    dist: {
      shasum: row.file_sha1,
      integrity: `sha512-${sha512Of({ sha512: row.file_sha512 })}`,
      tarball: `${root}/${name}/-/${tarballName(name, row.version ?? '')}`,
      size: row.size,
    },
  }
  if (form === 'full') return Object.assign(manifest, added)
  const kept = SHORT.flatMap((key) => (key in manifest ? [[key, manifest[key]]] : []))
  return Object.assign(Object.fromEntries(kept), added)
}

function hasInstallScript(manifest: Manifest): boolean {
  const { scripts } = manifest
  if (typeof scripts !== 'object' || scripts === null) return false
  return ['preinstall', 'install', 'postinstall'].some((name) => name in scripts)
}
