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
  most = MOST_VERSIONS,
): Promise<NugetVersionRow[]> {
  const rows = await listNugetVersions(ctx, place, [name.toLowerCase()], most)
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
  const rows = await getVersions(ctx, place, name, 5000)
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
  const make = async () => {
    const rows = await getVersions(ctx, view.place, name)
    return JSON.stringify(presentRegistration(ctx, view.root, rows))
  }
  const document =
    'projectId' in view.place
      ? await ofProject(ctx, view.place.projectId, `registration ${view.root}`, name, make)
      : await readyDocument(await make())
  return answerDocument(request, document, 'application/json')
}

async function ofProject(
  ctx: Ctx,
  projectId: number,
  form: string,
  name: string,
  make: () => Promise<string>,
): Promise<ReadyDocument> {
  const key = { projectId, type: 'nuget', nameKey: name.toLowerCase(), form } as const
  const document = await readDocument(ctx, key, make)
  if (!document) throw notFound('Package')
  return document
}

export async function readLeaf(ctx: Ctx, view: NugetView, name: string, version: string) {
  return presentLeaf(ctx, view.root, await getVersion(ctx, view.place, name, version))
}

/** The versions of a name as their addresses write them. */
export async function readVersions(ctx: Ctx, projectId: number, name: string) {
  const rows = await getVersions(ctx, { projectId }, name, 5000)
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
