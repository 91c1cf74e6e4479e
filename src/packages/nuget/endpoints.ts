import { z } from 'zod'
import { anyone, type Project } from '../../access/subjects.ts'
import { badRequest, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Bytes, bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { flag, integer, text } from '../../http/params.ts'
import { onProjectPackages } from '../registry/access.ts'
import { answerPackageFile } from '../registry/download.ts'
import { findInstallable } from '../registry/find.ts'
import type { PackagePlace } from '../registry/place-queries.ts'
import { removePackage } from '../registry/remove.ts'
import { nugetRead, nugetWrite, onNugetGroup, onSymbols } from './access.ts'
import { rootOf } from './addresses.ts'
import { readNuspecText } from './nuspec-file.ts'
import { publishNuget } from './publish-package.ts'
import { findFileEnding, findSymbolFile } from './queries.ts'
import { answerRegistration, answerSearch, readLeaf, readVersions } from './read.ts'
import { serviceIndex } from './service-index.ts'
import { normalVersion } from './version.ts'

const json = bytes('application/json')
const word = text({ max: 400 })
const onProjectRead = onProjectPackages('read_packages')
const onGroupRead = onNugetGroup()
const LEVELS = ['projects', 'groups'] as const
type Level = (typeof LEVELS)[number]

const indexEntity = z.strictObject({
  version: z.string(),
  resources: z.array(
    z.strictObject({ '@id': z.string(), '@type': z.string(), comment: z.string() }),
  ),
})

const search = {
  q: word.optional(),
  skip: integer({ min: 0 }).optional(),
  take: integer({ min: 0 }).optional(),
  prerelease: flag().optional(),
}

interface SearchQuery {
  readonly q?: string | undefined
  readonly skip?: number | undefined
  readonly take?: number | undefined
  readonly prerelease?: boolean | undefined
}

function searchOf(query: SearchQuery) {
  const { q = '', skip = 0, take = 20, prerelease = true } = query
  return { term: q, skip, take: Math.min(take, 30), prerelease }
}

/** The address that was asked, below which answers stay: by number or by path, each in its one form. */
function rootFor(
  ctx: Pick<Ctx, 'config'>,
  request: RequestFacts,
  level: Level,
  { id, full_path: path }: { readonly id: number; readonly full_path: string },
): string {
  const isNumber = new RegExp(`/${level}/\\d+/`).test(new URL(request.url).pathname)
  return rootOf(ctx, level, isNumber ? String(id) : path)
}

const anyProject = { id: word }

const ROOTS: Readonly<Record<Level, string>> = {
  projects: '/projects/:id/packages/nuget',
  groups: '/groups/:id/-/packages/nuget',
}

export const getNugetIndexes = LEVELS.flatMap((level) =>
  (['index.json', 'index'] as const).map((file) =>
    endpoint({
      ...nugetRead,
      method: 'GET',
      path: `${ROOTS[level]}/${file}`,
      summary: `Get where NuGet finds what in a ${level.slice(0, -1)}, and nothing about it`,
      access: anyone(),
      params: anyProject,
      response: indexEntity,
      handler: ({ ctx, params }) => serviceIndex(rootOf(ctx, level, params.id), level),
    }),
  ),
)

export const searchNuget = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/projects/:id/packages/nuget/query',
  summary: 'Search the NuGet packages of a project',
  access: onProjectRead,
  query: search,
  response: json,
  async handler({ ctx, project, query, request }) {
    const root = rootFor(ctx, request, 'projects', project)
    const found = await answerSearch(
      ctx,
      { root, place: { projectId: project.id } },
      searchOf(query),
    )
    return { body: JSON.stringify(found), type: 'application/json' }
  },
})

export const searchGroupNuget = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/groups/:id/-/packages/nuget/query',
  summary: 'Search the NuGet packages of the projects of a group',
  access: onGroupRead,
  query: search,
  response: json,
  async handler({ ctx, group, query, request }) {
    const root = rootFor(ctx, request, 'groups', group)
    const found = await answerSearch(ctx, { root, place: { groupId: group.id } }, searchOf(query))
    return { body: JSON.stringify(found), type: 'application/json' }
  },
})

export const getNugetRegistration = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/projects/:id/packages/nuget/metadata/:package_name/index.json',
  summary: 'Get all versions of a NuGet package of a project',
  access: onProjectRead,
  params: { package_name: word },
  response: json,
  handler({ ctx, project, params, request }) {
    const root = rootFor(ctx, request, 'projects', project)
    const view = { root, place: { projectId: project.id } }
    return answerRegistration(ctx, view, params.package_name, request)
  },
})

export const getGroupNugetRegistration = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/groups/:id/-/packages/nuget/metadata/:package_name/index.json',
  summary: 'Get all versions of a NuGet package of a group',
  access: onGroupRead,
  params: { package_name: word },
  response: json,
  handler({ ctx, group, params, request }) {
    const root = rootFor(ctx, request, 'groups', group)
    return answerRegistration(
      ctx,
      { root, place: { groupId: group.id } },
      params.package_name,
      request,
    )
  },
})

const leaf = { package_name: word, package_version: word }
const plain = (version: string) => version.replace(/\.json$/, '')

export const getNugetLeaf = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/projects/:id/packages/nuget/metadata/:package_name/:package_version',
  summary: 'Get a version of a NuGet package of a project',
  access: onProjectRead,
  params: leaf,
  response: json,
  async handler({ ctx, project, params, request }) {
    const root = rootFor(ctx, request, 'projects', project)
    const view = { root, place: { projectId: project.id } }
    const found = await readLeaf(ctx, view, params.package_name, plain(params.package_version))
    return { body: JSON.stringify(found), type: 'application/json' }
  },
})

export const getGroupNugetLeaf = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/groups/:id/-/packages/nuget/metadata/:package_name/:package_version',
  summary: 'Get a version of a NuGet package of a group',
  access: onGroupRead,
  params: leaf,
  response: json,
  async handler({ ctx, group, params, request }) {
    const root = rootFor(ctx, request, 'groups', group)
    const view = { root, place: { groupId: group.id } }
    const found = await readLeaf(ctx, view, params.package_name, plain(params.package_version))
    return { body: JSON.stringify(found), type: 'application/json' }
  },
})

export const listNugetVersionNames = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/projects/:id/packages/nuget/download/:package_name/index.json',
  summary: 'List the versions of a NuGet package of a project',
  access: onProjectRead,
  params: { package_name: word },
  response: z.strictObject({ versions: z.array(z.string()) }),
  handler: ({ ctx, project, params }) => readVersions(ctx, project.id, params.package_name),
})

export const downloadNugetFile = endpoint({
  ...nugetRead,
  method: 'GET',
  path: '/projects/:id/packages/nuget/download/:package_name/:package_version/:file_name',
  summary: 'Download a NuGet package, its symbols, or its nuspec',
  access: onProjectRead,
  params: { ...leaf, file_name: text({ max: 900 }) },
  response: bytes('application/octet-stream'),
  handler: ({ ctx, project, params, request }) => answerContent(ctx, project, params, request),
})

interface Leaf {
  readonly package_name: string
  readonly package_version: string
}

function keyOf({ package_name: name, package_version: version }: Leaf) {
  const versionKey = normalVersion(version)?.toLowerCase() ?? ''
  return { type: 'nuget', nameKey: name.toLowerCase(), versionKey } as const
}

/** The files of a version by the names that they have there, in any case and with any form of the version. */
async function answerContent(
  ctx: Ctx,
  project: Project,
  params: Leaf & { readonly file_name: string },
  request: RequestFacts,
): Promise<Bytes> {
  const key = keyOf(params)
  const form = formOf(params.file_name, key)
  const row = form && (await findInstallable(ctx, project, key))
  const file = row && (await findFileEnding(ctx.db, row.id, form === '.snupkg' ? form : '.nupkg'))
  if (!file) throw notFound('Package file')
  if (form !== '.nuspec') return await answerPackageFile(ctx, request, file)
  const body = await readNuspecText(ctx, file.file_sha256)
  if (body === undefined) throw notFound('Package file')
  return { body, type: 'application/xml; charset=utf-8' }
}

/** Which of the files of a version has this name: `{id}.{version}.nupkg`, the same as `.snupkg`, and `{id}.nuspec`. */
function formOf(fileName: string, key: ReturnType<typeof keyOf>) {
  const name = fileName.toLowerCase()
  if (name === `${key.nameKey}.nuspec`) return '.nuspec'
  const [, stem = '', form] = /^(.+)(\.s?nupkg)$/.exec(name) ?? []
  const version = stem.startsWith(`${key.nameKey}.`) ? stem.slice(key.nameKey.length + 1) : ''
  if (normalVersion(version) !== key.versionKey) return undefined
  return form === '.nupkg' || form === '.snupkg' ? form : undefined
}

const published = z.strictObject({ message: z.string() })

const push = {
  ...nugetWrite,
  method: 'PUT',
  raw: true,
  response: published,
  status: 201,
} as const
const onPush = onProjectPackages('write_package')

export const pushNugetPackage = endpoint({
  ...push,
  path: '/projects/:id/packages/nuget',
  summary: 'Publish a NuGet package',
  access: onPush,
  async handler({ ctx, project, request }) {
    await publishNuget(ctx, project, request, 'nupkg')
    return { message: '201 Created' }
  },
})

export const pushNugetPackageV2 = endpoint({
  ...push,
  path: '/projects/:id/packages/nuget/v2',
  summary: 'Publish a NuGet package, as clients of protocol 2 do',
  access: onPush,
  async handler({ ctx, project, request }) {
    await publishNuget(ctx, project, request, 'nupkg')
    return { message: '201 Created' }
  },
})

export const pushNugetSymbols = endpoint({
  ...push,
  path: '/projects/:id/packages/nuget/symbolpackage',
  summary: 'Publish the symbols of a NuGet package',
  access: onPush,
  async handler({ ctx, project, request }) {
    await publishNuget(ctx, project, request, 'snupkg')
    return { message: '201 Created' }
  },
})

/** Clients delete below the address that they were given, which is another one for those of protocol 2. */
export const deleteNugetPackage = ['', '/v2'].map((feed) =>
  endpoint({
    ...nugetWrite,
    method: 'DELETE',
    path: `${ROOTS.projects}${feed}/:package_name/:package_version`,
    summary: 'Delete a version of a NuGet package',
    access: onProjectPackages('delete_package'),
    params: leaf,
    async handler({ ctx, project, params }) {
      const row = await findInstallable(ctx, project, keyOf(params))
      if (!row) throw notFound('Package')
      await removePackage(ctx, project, row)
    },
  }),
)

const symbol = { file_name: word, signature: text({ max: 64 }), same_file_name: word }

async function symbolFile(
  given: { readonly ctx: Parameters<typeof answerPackageFile>[0]; readonly request: RequestFacts },
  place: PackagePlace,
  params: {
    readonly file_name: string
    readonly signature: string
    readonly same_file_name: string
  },
) {
  const header = String(given.request.headers.symbolchecksum ?? '')
  const [, checksum] = /^SHA256:([0-9a-f]{64})$/i.exec(header.trim()) ?? []
  if (checksum === undefined) throw badRequest('Symbolchecksum header is missing or invalid')
  const file = await findSymbolFile(given.ctx.db, place, {
    file: params.file_name.toLowerCase(),
    signature: params.signature.toLowerCase(),
    checksum: checksum.toLowerCase(),
  })
  if (!file || params.file_name !== params.same_file_name) throw notFound('Symbol file')
  return await answerPackageFile(given.ctx, given.request, file)
}

export const downloadNugetSymbols = LEVELS.map((level) =>
  endpoint({
    ...nugetRead,
    method: 'GET',
    path: `${ROOTS[level]}/symbolfiles/:file_name/:signature/:same_file_name`,
    summary: `Download a symbol file of a NuGet package of a ${level.slice(0, -1)}, as debuggers ask for it`,
    access: onSymbols(level),
    params: { ...anyProject, ...symbol },
    response: bytes('application/octet-stream'),
    handler: ({ ctx, place, params, request }) => symbolFile({ ctx, request }, place, params),
  }),
)
