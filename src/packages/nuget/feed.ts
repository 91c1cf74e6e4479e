import { XMLBuilder } from 'fast-xml-parser'
import type { Ctx } from '../../ctx.ts'
import { contentUrl } from './addresses.ts'
import { metadataOf } from './present.ts'
import type { listNupkgs, NugetVersionRow } from './queries.ts'
import { isPrerelease } from './version.ts'

type Xml = Readonly<Record<string, unknown>>
type Nupkg = Awaited<ReturnType<typeof listNupkgs>>[number]

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  format: true,
  suppressEmptyNode: true,
})

const NAMESPACES = {
  '@xmlns': 'http://www.w3.org/2005/Atom',
  '@xmlns:d': 'http://schemas.microsoft.com/ado/2007/08/dataservices',
  '@xmlns:m': 'http://schemas.microsoft.com/ado/2007/08/dataservices/metadata',
}

function write(value: Xml): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n${builder.build(value)}`
}

/** The document at the address of the protocol: which collections there are. */
export function serviceDocument(root: string): string {
  const title = (text: string) => ({ '@type': 'text', '#text': text })
  return write({
    service: {
      '@xmlns': 'http://www.w3.org/2007/app',
      '@xmlns:atom': 'http://www.w3.org/2005/Atom',
      '@xml:base': `${root}/v2`,
      workspace: {
        'atom:title': title('Default'),
        collection: { '@href': 'Packages', 'atom:title': title('Packages') },
      },
    },
  })
}

const TEXTS = ['Authors', 'Dependencies', 'Description', 'Summary', 'Tags', 'Title', 'PackageHash']
const ADDRESSES = ['IconUrl', 'LicenseUrl', 'ProjectUrl', 'PackageHashAlgorithm']

/** The shape of the feed, which clients read before they search (OData 2). */
export function metadataDocument(): string {
  const property = (name: string, type = 'Edm.String', nullable = true) => ({
    '@Name': name,
    '@Type': type,
    '@Nullable': String(nullable),
  })
  const action = (name: string, parameters: readonly (readonly [string, string])[]) => ({
    '@Name': name,
    '@EntitySet': 'Packages',
    '@ReturnType': 'Collection(NuGet.V2FeedPackage)',
    '@m:HttpMethod': 'GET',
    Parameter: parameters.map(([key, type]) => ({ '@Name': key, '@Type': type, '@Mode': 'In' })),
  })
  return write({
    'edmx:Edmx': {
      '@xmlns:edmx': 'http://schemas.microsoft.com/ado/2007/06/edmx',
      '@Version': '1.0',
      'edmx:DataServices': {
        '@xmlns:m': NAMESPACES['@xmlns:m'],
        '@m:DataServiceVersion': '2.0',
        Schema: {
          '@xmlns': 'http://schemas.microsoft.com/ado/2006/04/edm',
          '@Namespace': 'NuGet',
          EntityType: {
            '@Name': 'V2FeedPackage',
            '@m:HasStream': 'true',
            Key: { PropertyRef: [{ '@Name': 'Id' }, { '@Name': 'Version' }] },
            Property: [
              property('Id', 'Edm.String', false),
              property('Version', 'Edm.String', false),
              ...[...TEXTS, ...ADDRESSES].map((name) => property(name)),
              property('IsLatestVersion', 'Edm.Boolean', false),
              property('IsAbsoluteLatestVersion', 'Edm.Boolean', false),
              property('IsPrerelease', 'Edm.Boolean', false),
              property('PackageSize', 'Edm.Int64', false),
              property('Published', 'Edm.DateTime', false),
            ],
          },
          EntityContainer: {
            '@Name': 'V2FeedContext',
            '@m:IsDefaultEntityContainer': 'true',
            EntitySet: { '@Name': 'Packages', '@EntityType': 'NuGet.V2FeedPackage' },
            FunctionImport: [
              action('FindPackagesById', [['id', 'Edm.String']]),
              action('Search', [
                ['searchTerm', 'Edm.String'],
                ['targetFramework', 'Edm.String'],
                ['includePrerelease', 'Edm.Boolean'],
              ]),
            ],
          },
        },
      },
    },
  })
}

/** Several versions, and the address of those that follow. */
export function feedDocument(
  ctx: Pick<Ctx, 'config'>,
  root: string,
  rows: readonly FeedRow[],
  next?: string,
): string {
  return write({
    feed: {
      ...NAMESPACES,
      '@xml:base': `${root}/v2`,
      id: `${root}/v2/Packages`,
      title: { '@type': 'text', '#text': 'Packages' },
      updated: rows[0]?.row.created_at ?? '1970-01-01T00:00:00.000Z',
      entry: rows.map((one) => entry(ctx, root, one)),
      ...(next === undefined ? {} : { link: { '@rel': 'next', '@href': next } }),
    },
  })
}

/** One version. */
export function entryDocument(ctx: Pick<Ctx, 'config'>, root: string, row: FeedRow): string {
  return write({ entry: { ...NAMESPACES, ...entry(ctx, root, row) } })
}

/** A version with its file, and whether it is the highest of its name. */
export interface FeedRow {
  readonly row: NugetVersionRow
  readonly file: Nupkg | undefined
  readonly isLatest: boolean
  readonly isHighest: boolean
}

function entry(ctx: Pick<Ctx, 'config'>, root: string, one: FeedRow): Xml {
  const { row, file } = one
  const metadata = metadataOf(row)
  const typed = (type: string, value: unknown) => ({ '@m:type': type, '#text': String(value) })
  return {
    id: `${root}/v2/Packages(Id='${row.name}',Version='${row.version}')`,
    category: {
      '@term': 'NuGet.V2FeedPackage',
      '@scheme': 'http://schemas.microsoft.com/ado/2007/08/dataservices/scheme',
    },
    title: { '@type': 'text', '#text': row.name },
    updated: row.created_at,
    author: { name: metadata.authors },
    content: { '@type': 'application/zip', '@src': contentUrl(ctx, row) },
    'm:properties': {
      'd:Id': row.name,
      'd:Version': row.version,
      'd:Title': metadata.title || row.name,
      'd:Authors': metadata.authors,
      'd:Description': metadata.description,
      'd:Summary': metadata.summary,
      'd:Tags': metadata.tags,
      'd:ProjectUrl': metadata.projectUrl,
      'd:LicenseUrl': metadata.licenseUrl,
      'd:IconUrl': metadata.iconUrl,
      'd:Dependencies': dependenciesOf(row),
      'd:IsPrerelease': typed('Edm.Boolean', isPrerelease(row.version_key)),
      'd:IsLatestVersion': typed('Edm.Boolean', one.isLatest),
      'd:IsAbsoluteLatestVersion': typed('Edm.Boolean', one.isHighest),
      'd:PackageSize': typed('Edm.Int64', file?.size ?? 0),
      'd:PackageHash': Buffer.from(file?.file_sha512 ?? '', 'hex').toString('base64'),
      'd:PackageHashAlgorithm': 'SHA512',
      'd:Published': typed('Edm.DateTime', row.created_at),
    },
  }
}

/** `id:range:framework`, one after the other. */
function dependenciesOf(row: NugetVersionRow): string {
  const { groups } = metadataOf(row)
  return groups
    .flatMap(({ framework, dependencies }) =>
      dependencies.map(({ id, range }) => `${id}:${range}:${framework}`),
    )
    .join('|')
}
