import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, flag, oneOf, text } from '../../http/params.ts'
import { mirrorsAvailable } from '../../projects/projects/access.ts'
import { onRemoteMirror } from './access.ts'
import { presentRemoteMirror, remoteMirrorEntity } from './entity.ts'
import { syncMirror } from './push-task.ts'
import { listRemoteMirrors } from './queries.ts'
import { changeRemoteMirror, createRemoteMirror, removeRemoteMirror } from './verbs.ts'

const path = '/projects/:id/remote_mirrors'
const one = `${path}/:mirror_id` as const

const fields = {
  enabled: flag().optional(),
  only_protected_branches: flag().optional(),
  keep_divergent_refs: flag().optional(),
  mirror_branch_regex: text({ max: 255 }).nullish(),
  auth_method: oneOf(['password']).optional(),
}

export const getRemoteMirrors = endpoint({
  method: 'GET',
  path,
  summary: 'List the servers that a project is pushed to',
  access: onProject('admin_project'),
  paginate: 'offset',
  response: z.array(remoteMirrorEntity),
  async handler({ ctx, project, page }) {
    const rows = await listRemoteMirrors(ctx.db, project.id, page)
    return { ...rows, items: rows.items.map((row) => presentRemoteMirror(ctx, row)) }
  },
})

export const getRemoteMirror = endpoint({
  method: 'GET',
  path: one,
  summary: 'Get a server that a project is pushed to',
  access: onRemoteMirror('admin_project'),
  response: remoteMirrorEntity,
  handler: ({ ctx, mirror }) => presentRemoteMirror(ctx, mirror),
})

export const postRemoteMirror = endpoint({
  method: 'POST',
  path,
  summary: 'Push a project to another server whenever it changes',
  access: onProject('admin_project'),
  body: { url: filledText({ max: 2000 }), ...fields },
  conditions: [mirrorsAvailable],
  response: remoteMirrorEntity,
  handler: async ({ ctx, project, body }) =>
    presentRemoteMirror(ctx, await createRemoteMirror(ctx, project, body)),
})

export const putRemoteMirror = endpoint({
  method: 'PUT',
  path: one,
  summary: 'Change what of a project is pushed to another server',
  access: onRemoteMirror('admin_project'),
  body: fields,
  conditions: [mirrorsAvailable],
  response: remoteMirrorEntity,
  handler: async ({ ctx, project, mirror, body }) =>
    presentRemoteMirror(ctx, await changeRemoteMirror(ctx, project, mirror, body)),
})

export const deleteRemoteMirrorOf = endpoint({
  method: 'DELETE',
  path: one,
  summary: 'Push a project to another server no longer',
  access: onRemoteMirror('admin_project'),
  handler: ({ ctx, project, mirror }) => removeRemoteMirror(ctx, project, mirror),
})

export const syncRemoteMirror = endpoint({
  method: 'POST',
  path: `${one}/sync`,
  summary: 'Push a project to another server now',
  access: onRemoteMirror('admin_project'),
  status: 204,
  handler: ({ ctx, mirror }) => syncMirror(ctx, mirror),
})
