import { z } from 'zod'
import { normalName } from '../../base/name-pattern.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { ByteRange } from '../../http/byte-range.ts'
import { answerDownload } from '../../http/conditional-file.ts'
import { type Bytes, bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { forwardOr } from '../forwarding/forward.ts'
import { clientRead, clientWrite, onGroupPackages, onProjectPackages } from '../registry/access.ts'
import { answerDocument } from '../registry/documents.ts'
import { answerPackageFile } from '../registry/download.ts'
import { answerForwardedFile, answerForwardedPage } from './forwarded.ts'
import { namesInFile } from './names.ts'
import { formOf, PAGE_TYPES, readFiles, readIndex } from './pages.ts'
import { findDistribution, type PypiPlace } from './queries.ts'
import { uploadDistribution } from './upload.ts'
import { metadataOf } from './wheel-metadata.ts'

const html = bytes('text/html')
/** The end of the name of a wheel's metadata (PEP 658). */
const METADATA = '.metadata'
const onProjectRead = onProjectPackages('read_packages')
const onGroupRead = onGroupPackages()

export const uploadPypiPackage = endpoint({
  ...clientWrite,
  method: 'POST',
  path: '/projects/:id/packages/pypi',
  summary: 'Publish a file of a Python package, as twine does',
  access: onProjectPackages('write_package'),
  raw: true,
  response: z.strictObject({ message: z.string() }),
  status: 201,
  async handler({ ctx, project, request }) {
    await uploadDistribution(ctx, project, request)
    return { message: '201 Created' }
  },
})

async function index(ctx: Ctx, place: PypiPlace & { title: string }, request: RequestFacts) {
  const form = formOf(request.headers.accept)
  const root = request.url.replace(/\/simple$/, '')
  return answerDocument(request, await readIndex(ctx, place, root, form), PAGE_TYPES[form])
}

async function files(
  ctx: Ctx,
  place: PypiPlace & { readonly namespaceId: number },
  name: string,
  request: RequestFacts,
) {
  const form = formOf(request.headers.accept)
  const document = await readFiles(ctx, place, normalName(name), form)
  if (document) return answerDocument(request, document, PAGE_TYPES[form])
  const asked = {
    place,
    namespaceId: place.namespaceId,
    nameKeys: [normalName(name)],
    path: `simple/${encodeURIComponent(normalName(name))}/`,
    fromCache: () => answerForwardedPage(ctx, normalName(name), form, request),
  }
  return await forwardOr(ctx, 'pypi', asked, notFound('Package'))
}

interface Named {
  readonly sha256: string
  readonly file_name: string
}

async function download(
  ctx: Ctx,
  place: PypiPlace & { readonly namespaceId: number },
  { sha256, file_name: fileName }: Named,
  request: RequestFacts,
) {
  const file = await findDistribution(ctx, place, sha256.toLowerCase(), fileName)
  if (file) return await answerPackageFile(ctx, request, file)
  const metadata = await answerWheelMetadata(ctx, place, { sha256, fileName }, request)
  if (metadata) return metadata
  const named = { sha256: sha256.toLowerCase(), fileName }
  const fromCache = () => answerForwardedFile(ctx, named, request)
  const { namespaceId } = place
  const asked = { place, namespaceId, nameKeys: namesInFile(fileName), fromCache }
  return await forwardOr(ctx, 'pypi', asked, notFound('Package file'))
}

/** What a wheel here says of itself, which clients ask for beside it. */
async function answerWheelMetadata(
  ctx: Ctx,
  place: PypiPlace,
  { sha256, fileName }: { readonly sha256: string; readonly fileName: string },
  request: RequestFacts,
): Promise<Bytes | undefined> {
  if (!fileName.endsWith(METADATA)) return undefined
  const wheel = fileName.slice(0, -METADATA.length)
  const found = await findDistribution(ctx, place, sha256.toLowerCase(), wheel)
  const stored = found && metadataOf(found).core_metadata
  return stored && (await answerText(ctx, stored, request))
}

function answerText(
  ctx: Ctx,
  { sha256, size }: { readonly sha256: string; readonly size: number },
  request: RequestFacts,
): Promise<Bytes> {
  const open = async (range?: ByteRange) => (await ctx.files.openOften(sha256, range)).body
  const type = 'text/plain; charset=utf-8'
  return answerDownload(request, { size, etag: `"${sha256}"`, type, open })
}

const named = {
  sha256: text({ max: 64 }),
  file_name: text({ max: 255 + METADATA.length }),
}

export const listPypiNames = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/projects/:id/packages/pypi/simple',
  summary: 'List the Python packages of a project, as a page or by PEP 691',
  access: onProjectRead,
  response: html,
  handler: ({ ctx, project, request }) =>
    index(ctx, { projectId: project.id, title: project.name }, request),
})

export const listGroupPypiNames = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/groups/:id/-/packages/pypi/simple',
  summary: 'List the Python packages of the projects of a group, as a page or by PEP 691',
  access: onGroupRead,
  response: html,
  handler: ({ ctx, group, request }) =>
    index(ctx, { groupId: group.id, title: group.name }, request),
})

export const listPypiFiles = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/projects/:id/packages/pypi/simple/:package_name',
  summary: 'List the files of a Python package, as a page or by PEP 691',
  access: onProjectRead,
  params: { package_name: text({ max: 255 }) },
  response: html,
  handler: ({ ctx, project, params, request }) =>
    files(
      ctx,
      { projectId: project.id, namespaceId: project.namespace_id },
      params.package_name,
      request,
    ),
})

export const listGroupPypiFiles = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/groups/:id/-/packages/pypi/simple/:package_name',
  summary: 'List the files of a Python package in a group, as a page or by PEP 691',
  access: onGroupRead,
  params: { package_name: text({ max: 255 }) },
  response: html,
  handler: ({ ctx, group, params, request }) =>
    files(ctx, { groupId: group.id, namespaceId: group.id }, params.package_name, request),
})

export const downloadPypiFile = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/projects/:id/packages/pypi/files/:sha256/:file_name',
  summary: 'Download a file of a Python package, or the metadata of a wheel',
  access: onProjectRead,
  params: named,
  response: bytes('application/octet-stream'),
  handler: ({ ctx, project, params, request }) =>
    download(ctx, { projectId: project.id, namespaceId: project.namespace_id }, params, request),
})

export const downloadGroupPypiFile = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/groups/:id/-/packages/pypi/files/:sha256/:file_name',
  summary: 'Download a file of a Python package of a group, or the metadata of a wheel',
  access: onGroupRead,
  params: named,
  response: bytes('application/octet-stream'),
  handler: ({ ctx, group, params, request }) =>
    download(ctx, { groupId: group.id, namespaceId: group.id }, params, request),
})
