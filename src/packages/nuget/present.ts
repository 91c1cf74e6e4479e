import type { Ctx } from '../../ctx.ts'
import { contentUrl } from './addresses.ts'
import type { NugetMetadata } from './nuspec.ts'
import type { NugetVersion, NugetVersionRow } from './queries.ts'
import { compareVersions } from './version.ts'

type Json = Readonly<Record<string, unknown>>

/** What a nuspec said; only the upload wrote it. */
export function metadataOf(row: Pick<NugetVersionRow, 'content'>): NugetMetadata {
  return JSON.parse(row.content) as NugetMetadata
}

/** One of each version, the lowest first. */
export function sorted<V extends NugetVersion>(rows: readonly V[]): V[] {
  const newest = new Map<string, V>()
  for (const row of rows) if (!newest.has(row.version_key)) newest.set(row.version_key, row)
  return [...newest.values()].sort((a, b) => compareVersions(a.version_key, b.version_key))
}

function leafUrl(root: string, row: NugetVersion): string {
  return `${root}/metadata/${row.name_key}/${row.version_key}.json`
}

/** A version within the registration of its name, and by itself. */
export function presentLeaf(ctx: Pick<Ctx, 'config'>, root: string, row: NugetVersionRow): Json {
  const metadata = metadataOf(row)
  const url = leafUrl(root, row)
  return {
    '@id': url,
    packageContent: contentUrl(ctx, row),
    catalogEntry: {
      '@id': url,
      id: row.name,
      version: row.version,
      authors: metadata.authors,
      description: metadata.description,
      summary: metadata.summary,
      tags: metadata.tags,
      published: row.created_at,
      packageContent: contentUrl(ctx, row),
      dependencyGroups: metadata.groups.map((group) => presentGroup(url, group)),
      projectUrl: metadata.projectUrl,
      licenseUrl: metadata.licenseUrl,
      iconUrl: metadata.iconUrl,
    },
  }
}

function presentGroup(url: string, group: NugetMetadata['groups'][number]): Json {
  const id = `${url}#dependencyGroup${group.framework ? `/${group.framework.toLowerCase()}` : ''}`
  return {
    '@id': id,
    '@type': 'PackageDependencyGroup',
    ...(group.framework ? { targetFramework: group.framework } : {}),
    dependencies: group.dependencies.map((one) => ({
      '@id': `${id}/${one.id.toLowerCase()}`,
      '@type': 'PackageDependency',
      id: one.id,
      range: one.range,
    })),
  }
}

/** All versions of a name in one page. */
export function presentRegistration(
  ctx: Pick<Ctx, 'config'>,
  root: string,
  rows: readonly NugetVersionRow[],
): Json {
  const versions = sorted(rows)
  const lower = versions[0]
  const upper = versions.at(-1)
  if (!lower || !upper) throw new Error('a registration has versions')
  return {
    '@id': `${root}/metadata/${lower.name_key}/index.json`,
    count: 1,
    items: [
      {
        '@id': leafUrl(root, upper),
        lower: lower.version,
        upper: upper.version,
        count: versions.length,
        items: versions.map((row) => presentLeaf(ctx, root, row)),
      },
    ],
  }
}

const MOST_VERSIONS = 10

/** One name among the results of a search: its versions, and what the highest says of itself. */
export function presentFound(
  root: string,
  versions: readonly NugetVersion[],
  metadata: Omit<NugetMetadata, 'groups'>,
): Json {
  const newest = versions.at(-1)
  if (!newest) throw new Error('what was found has versions')
  return {
    '@type': 'Package',
    id: newest.name,
    title: metadata.title || newest.name,
    version: newest.version,
    versions: versions.slice(-MOST_VERSIONS).map((row) => ({
      '@id': leafUrl(root, row),
      version: row.version,
      downloads: 0,
    })),
    totalDownloads: 0,
    verified: true,
    tags: metadata.tags,
    authors: metadata.authors,
    description: metadata.description,
    summary: metadata.summary,
  }
}
