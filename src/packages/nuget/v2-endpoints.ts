import { anyone } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Bytes, bytes, endpoint } from '../../http/endpoint.ts'
import { flag, integer, text } from '../../http/params.ts'
import { onProjectPackages } from '../registry/access.ts'
import type { PackagePlace } from '../registry/place-queries.ts'
import { nugetRead } from './access.ts'
import { rootOf } from './addresses.ts'
import {
  entryDocument,
  type FeedRow,
  feedDocument,
  metadataDocument,
  serviceDocument,
} from './feed.ts'
import { sorted } from './present.ts'
import { listNugetVersions, listNupkgs, type NugetVersionRow, searchNames } from './queries.ts'
import { isPrerelease, normalVersion } from './version.ts'

const tags = ['packages']
const word = text({ max: 400 })
const xml = bytes('application/xml')
const XML = 'application/xml; charset=utf-8'

export const getNugetV2 = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/projects/:id/packages/nuget/v2',
  summary:
    'Say which collections NuGet clients of protocol 2 find; tells nothing about the project',
  tags,
  access: anyone(),
  params: { id: word },
  response: xml,
  handler: ({ ctx, params }) => ({
    body: serviceDocument(rootOf(ctx, 'projects', params.id)),
    type: XML,
  }),
})

export const getNugetV2Metadata = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/projects/:id/packages/nuget/v2/$metadata',
  summary: 'Get the shape of the NuGet feed of protocol 2',
  tags,
  access: anyone(),
  params: { id: word },
  response: xml,
  handler: () => ({ body: metadataDocument(), type: XML }),
})

export const getGroupNugetV2 = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/groups/:id/-/packages/nuget/v2',
  summary: 'Say which collections NuGet clients of protocol 2 find; tells nothing about the group',
  tags,
  access: anyone(),
  params: { id: word },
  response: xml,
  handler: ({ ctx, params }) => ({
    body: serviceDocument(rootOf(ctx, 'groups', params.id)),
    type: XML,
  }),
})

export const getGroupNugetV2Metadata = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/groups/:id/-/packages/nuget/v2/$metadata',
  summary: 'Get the shape of the NuGet feed of protocol 2',
  tags,
  access: anyone(),
  params: { id: word },
  response: xml,
  handler: () => ({ body: metadataDocument(), type: XML }),
})

/** What the address of a collection asks for: all of a name, one version, or a search. */
interface FeedQuery {
  readonly id?: string | undefined
  readonly searchTerm?: string | undefined
  readonly includePrerelease?: boolean | undefined
  readonly $filter?: string | undefined
  readonly $skip?: number | undefined
  readonly $top?: number | undefined
}

const unquoted = (value: string) => value.replace(/^'(.*)'$/, '$1').replaceAll("''", "'")

export const readNugetV2Collection = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/projects/:id/packages/nuget/v2/:collection',
  summary: 'Read the NuGet feed of protocol 2: FindPackagesById(), Packages(), Search()',
  tags,
  access: onProjectPackages('read_packages'),
  params: { collection: word },
  query: {
    id: word.optional(),
    searchTerm: word.optional(),
    includePrerelease: flag().optional(),
    $filter: text({ max: 2000 }).optional(),
    $skip: integer({ min: 0 }).optional(),
    $top: integer({ min: 0 }).optional(),
  },
  response: xml,
  handler: ({ ctx, project, params, query }) =>
    answerCollection(ctx, project.id, params.collection, query),
})

async function answerCollection(
  ctx: Ctx,
  projectId: number,
  collection: string,
  query: FeedQuery,
): Promise<Bytes> {
  const root = rootOf(ctx, 'projects', String(projectId))
  const place = { projectId }
  const [, id, version] = /^Packages\(Id='([^']+)',\s*Version='([^']+)'\)$/i.exec(collection) ?? []
  if (id !== undefined) {
    const key = normalVersion(version ?? '')?.toLowerCase()
    const rows = await rowsOf(ctx, place, id)
    const found = rows.find(({ row }) => row.version_key === key)
    if (!found) throw notFound('Package')
    return { body: entryDocument(ctx, root, found), type: 'application/atom+xml; charset=utf-8' }
  }
  const rows = await rowsFor(ctx, place, collection.replace(/\(\)$/, ''), query)
  return { body: feedDocument(ctx, root, rows), type: 'application/atom+xml; charset=utf-8' }
}

async function rowsFor(
  ctx: Ctx,
  place: PackagePlace,
  collection: string,
  query: FeedQuery,
): Promise<FeedRow[]> {
  if (collection === 'FindPackagesById') return await rowsOf(ctx, place, unquoted(query.id ?? ''))
  if (collection === 'Search') return await searched(ctx, place, query)
  if (collection !== 'Packages') throw notFound('Collection')
  // Clients ask for one name, in a filter that they all write alike.
  const [, name] = /^\(?tolower\(Id\)\s+eq\s+'([^']+)'\)?/i.exec(query.$filter ?? '') ?? []
  return name === undefined ? [] : await rowsOf(ctx, place, name)
}

async function searched(ctx: Ctx, place: PackagePlace, query: FeedQuery): Promise<FeedRow[]> {
  const { names } = await searchNames(ctx, place, {
    term: unquoted(query.searchTerm ?? ''),
    prerelease: query.includePrerelease ?? false,
    skip: query.$skip ?? 0,
    take: Math.min(query.$top ?? 30, 100),
  })
  const found: FeedRow[] = []
  for (const name of names) {
    const rows = await rowsOf(ctx, place, name)
    found.push(...rows.filter((one) => (query.includePrerelease ? one.isHighest : one.isLatest)))
  }
  return found
}

const MOST_VERSIONS = 1000

async function rowsOf(ctx: Ctx, place: PackagePlace, name: string): Promise<FeedRow[]> {
  const rows = sorted(await listNugetVersions(ctx, place, [name.toLowerCase()], MOST_VERSIONS))
  if (rows.length === 0) return []
  const files = await listNupkgs(
    ctx.db,
    rows.map((row) => row.id),
  )
  const byPackage = new Map(files.map((file) => [file.package_id, file]))
  const highest = rows.at(-1)
  const latest = rows.findLast((row: NugetVersionRow) => !isPrerelease(row.version_key))
  return rows.map((row) => ({
    row,
    file: byPackage.get(row.id),
    isLatest: row === latest,
    isHighest: row === highest,
  }))
}
