import { Readable } from 'node:stream'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { answerDownload } from '../../http/conditional-file.ts'
import { type Bytes, bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { clientRead, onProjectSources } from '../registry/access.ts'
import { decodeCase, noModule, readModule } from './module.ts'
import {
  type GoVersion,
  getGoVersion,
  getLatestGoVersion,
  listGoVersions,
  timeOf,
} from './versions.ts'
import { zipModule } from './zip.ts'

const module = text({ max: 2000 })
const access = onProjectSources()

function answerText(request: RequestFacts, type: string, etag: string, content: string | Buffer) {
  const data = Buffer.from(content)
  const open = async (range?: { start: number; end: number }) =>
    Readable.from([range ? data.subarray(range.start, range.end + 1) : data], { objectMode: false })
  return answerDownload(request, { size: data.length, etag: `"${etag}"`, type, open })
}

function answerInfo(request: RequestFacts, { version, commit }: GoVersion) {
  const info = JSON.stringify({ Version: version, Time: timeOf(commit) })
  return answerText(request, 'application/json', `${version}-${commit.id}`, info)
}

export const listGoModuleVersions = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/projects/:id/packages/go/*module/@v/list',
  summary: 'List the versions of a Go module of a project, a line each',
  access,
  params: { module },
  response: bytes('text/plain'),
  async handler({ ctx, project, params }) {
    const versions = await listGoVersions(ctx, project, readModule(ctx, project, params.module))
    return { body: versions.map((one) => `${one}\n`).join(''), type: 'text/plain; charset=utf-8' }
  },
})

export const getLatestGoModule = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/projects/:id/packages/go/*module/@latest',
  summary: 'Get the newest version of a Go module of a project',
  access,
  params: { module },
  response: bytes('application/json'),
  async handler({ ctx, project, params, request }) {
    const found = readModule(ctx, project, params.module)
    return answerInfo(request, await getLatestGoVersion(ctx, project, found))
  },
})

export const getGoModuleVersion = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/projects/:id/packages/go/*module/@v/:version',
  summary: 'Get a version of a Go module of a project: its .info, .mod or .zip',
  access,
  params: { module, version: text({ max: 255 }) },
  response: bytes('application/octet-stream'),
  handler: ({ ctx, project, params, request }) => answerVersion(ctx, project, params, request),
})

async function answerVersion(
  ctx: Ctx,
  project: Project,
  params: { readonly module: string; readonly version: string },
  request: RequestFacts,
): Promise<Bytes> {
  const [, encoded = '', form = ''] = /^(.+)\.(info|mod|zip)$/.exec(params.version) ?? []
  const name = decodeCase(encoded)
  const found = readModule(ctx, project, params.module)
  if (!name) throw noModule()
  const version = await getGoVersion(ctx, project, found, name)
  if (form === 'info') return answerInfo(request, version)
  if (form === 'mod') {
    const etag = `${version.version}-${version.commit.id}`
    return answerText(request, 'text/plain; charset=utf-8', etag, version.mod)
  }
  return { body: await zipModule(ctx, project, found, version), type: 'application/zip' }
}
