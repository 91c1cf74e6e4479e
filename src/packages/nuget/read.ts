import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import {
  answerDocument,
  type ReadyDocument,
  readDocument,
  readyDocument,
} from '../registry/documents.ts'
import type { PackagePlace } from '../registry/place-queries.ts'
import { metadataOf, presentFound, presentLeaf, presentRegistration, sorted } from './present.ts'
import {
  findNugetVersion,
  listNugetTexts,
  listNugetVersions,
  type NugetSearch,
  type NugetVersionRow,
  searchNames,
  withContent,
} from './queries.ts'
import { normalVersion } from './version.ts'

/** Where a client asked: below which address, and in which packages. */
export interface NugetView {
  readonly root: string
  readonly place: PackagePlace
}

const MOST_VERSIONS = 300
const MOST_BYTES = 8 * 1024 * 1024

/** The one version of a name that this names, in whatever form; 404 when there is none. */
async function getVersion(
  ctx: Ctx,
  place: PackagePlace,
  name: string,
  version: string,
): Promise<NugetVersionRow> {
  const key = normalVersion(version)?.toLowerCase() ?? ''
  const row = await findNugetVersion(ctx, place, name.toLowerCase(), key)
  if (!row) throw notFound('Package')
  return row
}

/** All versions of a name; of one project the document is ready-made. */
export async function answerRegistration(
  ctx: Ctx,
  view: NugetView,
  name: string,
  request: RequestFacts,
): Promise<Bytes> {
  const nameKey = name.toLowerCase()
  const make = async () => {
    const versions = await listNugetVersions(ctx, view.place, [nameKey], MOST_VERSIONS)
    const rows = await withContent(ctx.db, versions, MOST_BYTES)
    return rows.length === 0 ? undefined : JSON.stringify(presentRegistration(ctx, view.root, rows))
  }
  const document = await registrationOf(ctx, view, nameKey, make)
  if (!document) throw notFound('Package')
  return answerDocument(request, document, 'application/json')
}

async function registrationOf(
  ctx: Ctx,
  { root, place }: NugetView,
  nameKey: string,
  make: () => Promise<string | undefined>,
): Promise<ReadyDocument | undefined> {
  if ('projectId' in place) {
    const { projectId } = place
    const key = { projectId, type: 'nuget', nameKey, form: `registration ${root}` } as const
    return await readDocument(ctx, key, make)
  }
  const text = await make()
  return text === undefined ? undefined : readyDocument(text)
}

export async function readLeaf(ctx: Ctx, view: NugetView, name: string, version: string) {
  return presentLeaf(ctx, view.root, await getVersion(ctx, view.place, name, version))
}

/** The versions of a name as their addresses write them. */
export async function readVersions(ctx: Ctx, projectId: number, name: string) {
  const rows = await listNugetVersions(ctx, { projectId }, [name.toLowerCase()], 5000)
  if (rows.length === 0) throw notFound('Package')
  return { versions: sorted(rows).map((row) => row.version_key) }
}

export async function answerSearch(ctx: Ctx, view: NugetView, search: NugetSearch) {
  const { total, names } = await searchNames(ctx, view.place, search)
  const rows = names.length === 0 ? [] : await listNugetVersions(ctx, view.place, names, 5000)
  const shown = search.prerelease ? rows : rows.filter((row) => !row.version_key.includes('-'))
  const found = names.map((name) => sorted(shown.filter((row) => row.name_key === name)))
  const highest = found.flatMap((versions) => versions.at(-1)?.id ?? [])
  const texts = await listNugetTexts(ctx.db, highest)
  const metadata = new Map(texts.map((text) => [text.package_id, metadataOf(text)]))
  const data = found.flatMap((versions) => {
    const said = metadata.get(versions.at(-1)?.id ?? 0)
    return said === undefined ? [] : [presentFound(view.root, versions, said)]
  })
  return { totalHits: total, data }
}
