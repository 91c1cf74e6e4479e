import { z } from 'zod'
import { onProject, type Project } from '../../access/subjects.ts'
import { endpoint, perMinute } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { presentProjectHook, projectHookEntity } from './entity.ts'
import { hookBodies, hookId, newUrl, otherUrl } from './params.ts'
import { type HookOwner, listHookRows } from './queries.ts'
import { testHook } from './test-hook.ts'
import { changeHook, createHook, getHook, removeHook } from './verbs.ts'

const tags = ['webhooks']
const access = onProject('admin_hooks')
const ownerOf = (project: Project): HookOwner => ({ kind: 'project', id: project.id })

export const listProjectHooks = endpoint({
  method: 'GET',
  path: '/projects/:id/hooks',
  summary: 'List the webhooks of a project',
  tags,
  access,
  paginate: 'offset',
  response: z.array(projectHookEntity),
  async handler({ ctx, project, page }) {
    const rows = await listHookRows(ctx.db, ownerOf(project), page)
    return { ...rows, items: rows.items.map((row) => presentProjectHook(ctx, row)) }
  },
})

export const getProjectHook = endpoint({
  method: 'GET',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Get a webhook of a project',
  tags,
  access,
  params: hookId,
  response: projectHookEntity,
  handler: async ({ ctx, project, params: { hook_id } }) =>
    presentProjectHook(ctx, await getHook(ctx, ownerOf(project), hook_id)),
})

export const createProjectHook = endpoint({
  method: 'POST',
  path: '/projects/:id/hooks',
  summary: 'Add a webhook to a project',
  tags,
  access,
  body: { ...hookBodies.project, ...newUrl },
  response: projectHookEntity,
  status: 201,
  handler: async ({ ctx, project, body }) =>
    presentProjectHook(ctx, await createHook(ctx, ownerOf(project), body)),
})

export const updateProjectHook = endpoint({
  method: 'PUT',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Change a webhook of a project',
  tags,
  access,
  params: hookId,
  body: { ...hookBodies.project, ...otherUrl },
  response: projectHookEntity,
  async handler({ ctx, project, params: { hook_id }, body }) {
    const owner = ownerOf(project)
    const row = await getHook(ctx, owner, hook_id)
    return presentProjectHook(ctx, await changeHook(ctx, owner, row, body))
  },
})

export const deleteProjectHook = endpoint({
  method: 'DELETE',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Remove a webhook from a project',
  tags,
  access,
  params: hookId,
  async handler({ ctx, project, params: { hook_id } }) {
    const owner = ownerOf(project)
    await removeHook(ctx, owner, await getHook(ctx, owner, hook_id))
  },
})

export const testProjectHook = endpoint({
  method: 'POST',
  path: '/projects/:id/hooks/:hook_id/test/:trigger',
  summary: 'Send a webhook an example of what it hears, made of what the project holds',
  tags,
  access,
  params: { ...hookId, trigger: text({ max: 100 }) },
  limit: perMinute('project_testing_hook', 5, 'caller_and_subject'),
  response: z.strictObject({ message: z.string() }),
  status: 201,
  async handler({ ctx, project, params: { hook_id, trigger }, request }) {
    const row = await getHook(ctx, ownerOf(project), hook_id)
    await testHook(ctx, row, { project, trigger }, request.signal)
    return { message: '201 Created' }
  },
})
