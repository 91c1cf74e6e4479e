import { findProjectById, findProjectByPath } from '../../access/find-queries.ts'
import { anyone, findVisibleGroup, findVisibleProject } from '../../access/subjects.ts'
import { hidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { bytes, type Endpoint, endpoint } from '../../http/endpoint.ts'
import { id, oneOf, text } from '../../http/params.ts'
import { getAvatar } from '../../identity/users/avatar/read-avatar.ts'
import { findAvatarFile, findUploadBySecret } from './queries.ts'
import { serveUpload } from './serve.ts'

const tags = ['files']

interface UploadCall {
  readonly ctx: Ctx
  readonly params: { readonly id: string; readonly secret: string; readonly filename: string }
}

/** The project of an upload's link, for whoever may read it; for anybody where its uploads are open (docs/contract/D §1.2). */
async function findProjectId(ctx: Ctx, idOrPath: string): Promise<number | undefined> {
  const visible = await findVisibleProject(ctx, idOrPath)
  if (visible) return visible.id
  const row = /^\d+$/.test(idOrPath)
    ? await findProjectById(ctx.db, Number(idOrPath))
    : await findProjectByPath(ctx.db, idOrPath)
  if (!row) return undefined
  const settings = JSON.parse(row.settings) as Record<string, unknown> // written by us
  return settings.enforce_auth_checks_on_uploads === false ? row.id : undefined
}

const upload = {
  method: 'GET',
  host: true,
  session: true,
  summary: 'Get a file that a text links to',
  tags,
  access: anyone(),
  params: { id: text(), secret: text(), filename: text() },
  response: bytes('application/octet-stream'),
  async handler({ ctx, params }: UploadCall) {
    const projectId = await findProjectId(ctx, params.id)
    const row =
      projectId === undefined
        ? undefined
        : await findUploadBySecret(ctx.db, projectId, params.secret, params.filename)
    if (!row) throw hidden()
    return await serveUpload(ctx, row)
  },
} as const

const getHostUpload = endpoint({
  ...upload,
  path: '/*id/uploads/:secret/:filename',
  otherPath: '/*id/-/uploads/:secret/:filename',
})

const getHostUploadById = endpoint({
  ...upload,
  path: '/-/project/:id/uploads/:secret/:filename',
})

const getHostAvatar = endpoint({
  method: 'GET',
  host: true,
  session: true,
  path: '/uploads/-/system/:kind/avatar/:id/:filename',
  summary: 'Show an avatar',
  tags,
  access: anyone(),
  params: { kind: oneOf(['user', 'group', 'project', 'topic']), id: id(), filename: text() },
  response: bytes('image/png'),
  async handler({ ctx, params }) {
    const { kind, id } = params
    const seen =
      kind === 'user' ||
      kind === 'topic' ||
      (kind === 'group'
        ? await findVisibleGroup(ctx, String(id))
        : await findVisibleProject(ctx, String(id)))
    const file = seen ? await findAvatarFile(ctx.db, kind, id) : null
    if (file === null) throw hidden()
    return await getAvatar(ctx, file)
  },
})

/** Files that are served beside the API, at the host itself. */
export const hostFileEndpoints: readonly Endpoint[] = [
  getHostUpload,
  getHostUploadById,
  getHostAvatar,
]
