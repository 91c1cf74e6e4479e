import { onProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, flag, text } from '../../http/params.ts'
import { mirrorsAvailable } from '../../projects/projects/access.ts'
import { presentPullMirror, pullMirrorEntity } from './entity.ts'
import { changePullMirror, getPullMirror, startPull } from './pull-verbs.ts'

const path = '/projects/:id/mirror/pull'

export const getProjectPullMirror = endpoint({
  method: 'GET',
  path,
  summary: 'Get the repository of another server that a project follows',
  access: onProject('admin_project'),
  response: pullMirrorEntity,
  handler: async ({ ctx, project }) =>
    presentPullMirror(ctx, { project, mirror: await getPullMirror(ctx, project) }),
})

export const putProjectPullMirror = endpoint({
  method: 'PUT',
  path,
  summary: 'Let a project follow a repository of another server',
  access: onProject('admin_project'),
  body: {
    url: filledText({ max: 2000 }).optional(),
    auth_user: text({ max: 255 }).nullish(),
    auth_password: text({ max: 1000 }).nullish(),
    enabled: flag().optional(),
    mirror_trigger_builds: flag().optional(),
    only_mirror_protected_branches: flag().optional(),
    mirror_overwrites_diverged_branches: flag().optional(),
    mirror_branch_regex: text({ max: 255 }).nullish(),
  },
  conditions: [mirrorsAvailable],
  response: pullMirrorEntity,
  handler: async ({ ctx, project, body }) =>
    presentPullMirror(ctx, await changePullMirror(ctx, project, body)),
})

export const postProjectPullMirror = endpoint({
  method: 'POST',
  path,
  summary: 'Look now at the repository that a project follows',
  access: onProject('admin_project'),
  status: 200,
  response: pullMirrorEntity,
  handler: async ({ ctx, project }) => presentPullMirror(ctx, await startPull(ctx, project)),
})
