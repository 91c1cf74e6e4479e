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
import { presentFound, presentLeaf, presentRegistration, sorted } from './present.ts'
import {
  listNugetVersions,
  type NugetSearch,
  type NugetVersionRow,
  searchNames,
} from './queries.ts'
import { normalVersion } from './version.ts'

/** Where a client asked: below which address, and in which packages. */
export interface NugetView {
  readonly root: string
  readonly place: PackagePlace
}

const MOST_VERSIONS = 300

/** The versions of a name, the newest upload first; 404 without any. */
async function getVersions(
  ctx: Ctx,
  place: PackagePlace,
  name: string,
): Promise<NugetVersionRow[]> {
  const rows = await listNugetVersions(ctx, place, [name.toLowerCase()], 5000)
  if (rows.length === 0) throw notFound('Package')
  return rows
}

/** The one version of a name that this names, in whatever form; 404 when there is none. */
export async function getVersion(
  ctx: Ctx,
  place: PackagePlace,
  name: string,
  version: string,
): Promise<NugetVersionRow> {
  const key = normalVersion(version)?.toLowerCase()
  const rows = await getVersions(ctx, place, name)
  const row = rows.find((one) => one.version_key === key)
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
    const rows = await listNugetVersions(ctx, view.place, [nameKey], MOST_VERSIONS)
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
  const rows = await getVersions(ctx, { projectId }, name)
  return { versions: sorted(rows).map((row) => row.version_key) }
}

export async function answerSearch(ctx: Ctx, view: NugetView, search: NugetSearch) {
  const { total, names } = await searchNames(ctx, view.place, search)
  const rows = names.length === 0 ? [] : await listNugetVersions(ctx, view.place, names, 5000)
  const shown = search.prerelease ? rows : rows.filter((row) => !row.version_key.includes('-'))
  const data = names.flatMap((name) => {
    const own = shown.filter((row) => row.name_key === name)
    return own.length === 0 ? [] : [presentFound(view.root, own)]
  })
  return { totalHits: total, data }
}
