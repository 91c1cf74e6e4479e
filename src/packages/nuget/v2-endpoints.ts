import { anyone } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, type Bytes, bytes, endpoint } from '../../http/endpoint.ts'
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
import {
  listNugetVersions,
  listNupkgs,
  type NugetVersion,
  searchNames,
  withContent,
} from './queries.ts'
import { isPrerelease, normalVersion } from './version.ts'

const word = text({ max: 400 })
const xml = bytes('application/xml')
const XML = 'application/xml; charset=utf-8'

export const getNugetV2 = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/projects/:id/packages/nuget/v2',
  summary: 'List the collections that NuGet clients of protocol 2 find, and nothing of the project',
  access: anyone(),
  params: { id: word },
  response: xml,
  handler: ({ ctx, params }) => ({
    body: serviceDocument(rootOf(ctx, 'projects', params.id)),
    type: XML,
  }),
})

/**
 * Debian's client signs in nowhere but at the address that it was given, and the feed's own answers everybody: whoever
 * signs in here is led there, and the client keeps name and token for what is below the folder of this address.
 */
export const signInToNugetV2 = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/projects/:id/packages/nuget/v2-sign-in',
  summary: 'Let NuGet clients of protocol 2 sign in, and lead them to the feed',
  access: onProjectPackages('read_packages'),
  status: 302,
  handler({ ctx, project }) {
    const Location = `${rootOf(ctx, 'projects', String(project.id))}/v2`
    return new Answer(undefined, { status: 302, headers: { Location } })
  },
})

export const getNugetV2Metadata = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/projects/:id/packages/nuget/v2/$metadata',
  summary: 'Get the shape of the NuGet feed of protocol 2',
  access: anyone(),
  params: { id: word },
  response: xml,
  handler: () => ({ body: metadataDocument(), type: XML }),
})

export const getGroupNugetV2 = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/groups/:id/-/packages/nuget/v2',
  summary: 'List the collections that NuGet clients of protocol 2 find, and nothing of the group',
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
    const [found] = await rowsOf(ctx, place, id, (row) => row.version_key === key)
    if (!found) throw notFound('Package')
    return { body: entryDocument(ctx, root, found), type: 'application/atom+xml; charset=utf-8' }
  }
  const name = collection.replace(/\(\)$/, '')
  const { rows, skip } = await rowsFor(ctx, place, name, query)
  const next = skip === undefined ? undefined : nextPage(`${root}/v2/${collection}`, query, skip)
  return { body: feedDocument(ctx, root, rows, next), type: 'application/atom+xml; charset=utf-8' }
}

/** The address of what follows. */
function nextPage(address: string, query: FeedQuery, skip: number): string {
  const { $top: _, ...rest } = query
  const pairs = Object.entries({ ...rest, $skip: skip }).filter(([, value]) => value !== undefined)
  const text = pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return `${address}?${text.join('&')}`
}

/** Versions, and how many names to skip for those that follow. */
interface FeedPage {
  readonly rows: FeedRow[]
  readonly skip?: number
}

async function rowsFor(
  ctx: Ctx,
  place: PackagePlace,
  collection: string,
  query: FeedQuery,
): Promise<FeedPage> {
  const { $filter: filter = '' } = query
  if (collection === 'FindPackagesById') {
    return { rows: await rowsOf(ctx, place, unquoted(query.id ?? ''), wantedBy(filter)) }
  }
  if (collection === 'Search') return await searched(ctx, place, query)
  if (collection !== 'Packages') throw notFound('Collection')
  // Clients ask for one name, or list everything.
  const [, name] = /\b(?:tolower\(Id\)|Id)\s+eq\s+'([^']+)'/i.exec(filter) ?? []
  if (name !== undefined) return { rows: await rowsOf(ctx, place, name, wantedBy(filter)) }
  const includePrerelease = /^IsAbsoluteLatestVersion/i.test(filter)
  return await searched(ctx, place, { ...query, includePrerelease })
}

/** Which of the versions of a name an answer holds. */
type Wanted = (row: NugetVersion, is: Pick<FeedRow, 'isLatest' | 'isHighest'>) => boolean

/** The one version that a filter may ask for beside the name; all of them where it does not. */
function wantedBy(filter: string): Wanted {
  if (/\bIsAbsoluteLatestVersion\b/i.test(filter)) return (_row, { isHighest }) => isHighest
  return /\bIsLatestVersion\b/i.test(filter) ? (_row, { isLatest }) => isLatest : () => true
}

const MOST_NAMES = 100

async function searched(ctx: Ctx, place: PackagePlace, query: FeedQuery): Promise<FeedPage> {
  const { $skip: skip = 0, $top: top } = query
  const take = Math.min(top ?? MOST_NAMES, MOST_NAMES)
  const { names } = await searchNames(ctx, place, {
    term: unquoted(query.searchTerm ?? ''),
    prerelease: query.includePrerelease ?? false,
    skip,
    take,
  })
  const rows: FeedRow[] = []
  let read = 0
  let bytes = 0
  for (const name of names) {
    if (bytes >= MOST_BYTES) break
    const wanted: Wanted = (_row, is) => (query.includePrerelease ? is.isHighest : is.isLatest)
    const found = await rowsOf(ctx, place, name, wanted)
    rows.push(...found)
    read += 1
    bytes += found.reduce((sum, { row }) => sum + row.content.length, 0)
  }
  const isFull = names.length === take && (top === undefined || top > take)
  return isFull || read < names.length ? { rows, skip: skip + read } : { rows }
}

const MOST_VERSIONS = 1000
const MOST_BYTES = 4 * 1024 * 1024

async function rowsOf(
  ctx: Ctx,
  place: PackagePlace,
  name: string,
  wanted: Wanted,
): Promise<FeedRow[]> {
  const all = sorted(await listNugetVersions(ctx, place, [name.toLowerCase()], MOST_VERSIONS))
  const highest = all.at(-1)?.id
  const latest = all.findLast((row) => !isPrerelease(row.version_key))?.id
  const marks = ({ id }: NugetVersion) => ({ isLatest: id === latest, isHighest: id === highest })
  const asked = all.filter((row) => wanted(row, marks(row)))
  const rows = await withContent(ctx.db, asked, MOST_BYTES)
  if (rows.length === 0) return []
  const files = await listNupkgs(
    ctx.db,
    rows.map((row) => row.id),
  )
  const byPackage = new Map(files.map((file) => [file.package_id, file]))
  return rows.map((row) => ({ row, file: byPackage.get(row.id), ...marks(row) }))
}
