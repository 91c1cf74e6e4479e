import { z } from 'zod'
import { onEither } from '../../access/sources.ts'
import { endpoint, perMinute } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { onHook, onProjectHook } from './access.ts'
import { presentProjectHook, projectHookEntity } from './entity.ts'
import { hookBodies, newUrl, otherUrl } from './params.ts'
import { listHookRows } from './queries.ts'
import { testHook } from './test-hook.ts'
import { changeHook, createHook, removeHook } from './verbs.ts'

const access = onEither('admin_hooks').forms.projects
const one = onHook().forms.projects

export const listProjectHooks = endpoint({
  method: 'GET',
  path: '/projects/:id/hooks',
  summary: 'List the webhooks of a project',
  access,
  paginate: 'offset',
  response: z.array(projectHookEntity),
  async handler({ ctx, source, page }) {
    const rows = await listHookRows(ctx.db, source, page)
    return { ...rows, items: rows.items.map((row) => presentProjectHook(ctx, row)) }
  },
})

export const getProjectHook = endpoint({
  method: 'GET',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Get a webhook of a project',
  access: one,
  response: projectHookEntity,
  handler: ({ ctx, hook }) => presentProjectHook(ctx, hook),
})

export const createProjectHook = endpoint({
  method: 'POST',
  path: '/projects/:id/hooks',
  summary: 'Add a webhook to a project',
  access,
  body: { ...hookBodies.project, ...newUrl },
  response: projectHookEntity,
  handler: async ({ ctx, source, body }) =>
    presentProjectHook(ctx, await createHook(ctx, source, body)),
})

export const updateProjectHook = endpoint({
  method: 'PUT',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Change a webhook of a project',
  access: one,
  body: { ...hookBodies.project, ...otherUrl },
  response: projectHookEntity,
  handler: async ({ ctx, source, hook, body }) =>
    presentProjectHook(ctx, await changeHook(ctx, source, hook, body)),
})

export const deleteHookOf = endpoint({
  method: 'DELETE',
  path: '/:source/:id/hooks/:hook_id',
  summary: 'Remove a webhook from a project or group',
  access: onHook(),
  handler: ({ ctx, source, hook }) => removeHook(ctx, source, hook),
})

export const testProjectHook = endpoint({
  method: 'POST',
  path: '/projects/:id/hooks/:hook_id/test/:trigger',
  summary: 'Send a webhook an example of an event, made of what the project holds',
  access: onProjectHook(),
  params: { trigger: text({ max: 100 }) },
  limit: perMinute('project_testing_hook', 5, 'caller_and_subject'),
  response: z.strictObject({ message: z.string() }),
  async handler({ ctx, project, hook, params: { trigger }, request }) {
    await testHook(ctx, hook, { project, trigger }, request.signal)
    return { message: '201 Created' }
  },
})
