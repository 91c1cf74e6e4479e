import { z } from 'zod'
import { Problem, unauthorized } from '../../base/problem.ts'
import { Answer, bytes, endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { forwardOr } from '../forwarding/forward.ts'
import { clientRead, clientWrite, onGroupPackages, onProjectPackages } from '../registry/access.ts'
import { onMavenInstance } from './access.ts'
import { answerMavenFile } from './download.ts'
import { readMavenPath } from './path.ts'
import { putMavenFile } from './upload.ts'

const tags = ['packages']
const params = { path: text({ max: 6000 }) }

export const putMavenPackageFile = endpoint({
  ...clientWrite,
  method: 'PUT',
  path: '/projects/:id/packages/maven/*path',
  summary: 'Publish a file of a Maven artifact, or check one by its SHA-1',
  tags,
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
  tags,
  access: onProjectPackages('read_packages'),
  params,
  response: bytes('application/octet-stream'),
  async handler({ ctx, project, params, request }) {
    const path = readMavenPath(params.path)
    try {
      return await answerMavenFile(ctx, { projectId: project.id }, path, request)
    } catch (error) {
      const ask = { namespaceId: project.namespace_id, path: params.path }
      throw isMissing(error) ? await forwardOr(ctx, 'maven', ask, error) : error
    }
  },
})

function isMissing(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 404
}

export const getGroupMavenPackageFile = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/groups/:id/-/packages/maven/*path',
  summary: 'Download a file of a Maven artifact of a group',
  tags,
  access: onGroupPackages(),
  params,
  response: bytes('application/octet-stream'),
  async handler({ ctx, group, params, request }) {
    try {
      return await answerMavenFile(ctx, { groupId: group.id }, readMavenPath(params.path), request)
    } catch (error) {
      if (!isMissing(error)) throw error
      // It may be in a project that only those who sign in can see.
      if (ctx.actor.kind === 'anonymous') throw unauthorized()
      throw await forwardOr(ctx, 'maven', { namespaceId: group.id, path: params.path }, error)
    }
  },
})

export const getInstanceMavenPackageFile = endpoint({
  ...clientRead,
  method: 'GET',
  path: '/packages/maven/*path',
  summary: 'Download a file of a Maven artifact that is named after its project',
  tags,
  access: onMavenInstance(),
  params,
  response: bytes('application/octet-stream'),
  handler: ({ ctx, projectId, path, request }) =>
    answerMavenFile(ctx, { projectId }, path, request),
})
