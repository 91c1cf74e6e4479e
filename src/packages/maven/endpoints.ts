import { z } from 'zod'
import { Problem, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, type Bytes, bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { type Forwarded, forwardOr } from '../forwarding/forward.ts'
import { clientRead, clientWrite, onGroupPackages, onProjectPackages } from '../registry/access.ts'
import { onMavenInstance } from './access.ts'
import { answerMavenFile } from './download.ts'
import { answerForwardedArtifact } from './forwarded.ts'
import { readMavenPath } from './path.ts'
import { putMavenFile } from './upload.ts'

const params = { path: text({ max: 6000 }) }

export const putMavenPackageFile = endpoint({
  ...clientWrite,
  method: 'PUT',
  path: '/projects/:id/packages/maven/*path',
  summary: 'Publish a file of a Maven artifact, or check one by its SHA-1',
  access: onProjectPackages('write_package'),
  params,
  raw: true,
  response: z.strictObject({ message: z.string() }).optional(),
  status: 200,
  async handler({ ctx, project, params, request }) {
    const status = await putMavenFile(ctx, project, readMavenPath(params.path), request)
    return status === 204 ? new Answer(undefined, { status }) : { message: '200 OK' }
  },
})

export const getMavenPackageFile = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/projects/:id/packages/maven/*path',
  summary: 'Download a file of a Maven artifact',
  access: onProjectPackages('read_packages'),
  params,
  response: bytes('application/octet-stream'),
  async handler({ ctx, project, params, request }) {
    const path = readMavenPath(params.path)
    const place = { projectId: project.id }
    try {
      return await answerMavenFile(ctx, place, path, request)
    } catch (error) {
      if (!isMissing(error)) throw error
      const asked = { place, namespaceId: project.namespace_id, nameKeys: [path.name] }
      return await answerMissing(ctx, { ...asked, path: params.path }, request, error)
    }
  },
})

function isMissing(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 404
}

async function answerMissing(
  ctx: Ctx,
  asked: Omit<Forwarded, 'fromCache'> & { readonly path: string },
  request: RequestFacts,
  refusal: Problem,
): Promise<Bytes> {
  const fromCache = () => answerForwardedArtifact(ctx, asked.path, request)
  return await forwardOr(ctx, 'maven', { ...asked, fromCache }, refusal)
}

export const getGroupMavenPackageFile = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/groups/:id/-/packages/maven/*path',
  summary: 'Download a file of a Maven artifact of a group',
  access: onGroupPackages(),
  params,
  response: bytes('application/octet-stream'),
  async handler({ ctx, group, params, request }) {
    const path = readMavenPath(params.path)
    const place = { groupId: group.id }
    try {
      return await answerMavenFile(ctx, place, path, request)
    } catch (error) {
      if (!isMissing(error)) throw error
      // It may be in a project that only those who sign in can see.
      if (ctx.actor.kind === 'anonymous') throw unauthorized()
      const asked = { place, namespaceId: group.id, nameKeys: [path.name] }
      return await answerMissing(ctx, { ...asked, path: params.path }, request, error)
    }
  },
})

export const getInstanceMavenPackageFile = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/packages/maven/*path',
  summary: 'Download a file of a Maven artifact that is named after its project',
  access: onMavenInstance(),
  params,
  response: bytes('application/octet-stream'),
  handler: ({ ctx, projectId, path, request }) =>
    answerMavenFile(ctx, { projectId }, path, request),
})
