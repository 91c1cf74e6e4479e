import { z } from 'zod'
import { onEither, type SourceKind, sourceWord } from '../../access/sources.ts'
import { type Endpoint, endpoint, perMinute } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { onGroupHook, onHook, onProjectHook } from './access.ts'
import {
  groupHookEntity,
  presentGroupHook,
  presentProjectHook,
  projectHookEntity,
} from './entity.ts'
import { hookBodies, newUrl, otherUrl } from './params.ts'
import { listHookRows } from './queries.ts'
import { testHook } from './test-hook.ts'
import { changeHook, createHook, removeHook } from './verbs.ts'

/** Webhooks of projects and of groups differ in the events that they may ask for. */
const kinds = {
  projects: {
    adds: 'Add a webhook to a project',
    body: hookBodies.project,
    entity: projectHookEntity,
    present: presentProjectHook,
  },
  groups: {
    adds: 'Add a webhook for events of all projects of a group',
    body: hookBodies.group,
    entity: groupHookEntity,
    present: presentGroupHook,
  },
} as const

function hookEndpoints(kind: SourceKind): Endpoint[] {
  const { adds, body, entity, present } = kinds[kind]
  const path = `/${kind}/:id/hooks` as const
  const word = sourceWord[kind]
  const access = onEither('admin_hooks').forms[kind]
  const one = onHook().forms[kind]
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the webhooks of a ${word}`,
      access,
      paginate: 'offset',
      response: z.array(entity),
      async handler({ ctx, source, page }) {
        const rows = await listHookRows(ctx.db, source, page)
        return { ...rows, items: rows.items.map((row) => present(ctx, row)) }
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:hook_id`,
      summary: `Get a webhook of a ${word}`,
      access: one,
      response: entity,
      handler: ({ ctx, hook }) => present(ctx, hook),
    }),
    endpoint({
      method: 'POST',
      path,
      summary: adds,
      access,
      body: { ...body, ...newUrl },
      response: entity,
      handler: async ({ ctx, source, body }) => present(ctx, await createHook(ctx, source, body)),
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/:hook_id`,
      summary: `Change a webhook of a ${word}`,
      access: one,
      body: { ...body, ...otherUrl },
      response: entity,
      handler: async ({ ctx, source, hook, body }) =>
        present(ctx, await changeHook(ctx, source, hook, body)),
    }),
  ]
}

export const projectHooks = hookEndpoints('projects')
export const groupHooks = hookEndpoints('groups')

export const deleteHookOf = endpoint({
  method: 'DELETE',
  path: '/:source/:id/hooks/:hook_id',
  summary: 'Remove a webhook from a project or group',
  access: onHook(),
  handler: ({ ctx, source, hook }) => removeHook(ctx, source, hook),
})

const testing = {
  params: { trigger: text({ max: 100 }) },
  response: z.strictObject({ message: z.string() }),
}

export const testProjectHook = endpoint({
  ...testing,
  method: 'POST',
  path: '/projects/:id/hooks/:hook_id/test/:trigger',
  summary: 'Send a webhook an example of an event, made of what the project holds',
  access: onProjectHook(),
  limit: perMinute('project_testing_hook', 5, 'caller_and_subject'),
  async handler({ ctx, project, hook, params: { trigger }, request }) {
    await testHook(ctx, hook, { place: { project }, trigger }, request.signal)
    return { message: '201 Created' }
  },
})

export const testGroupHook = endpoint({
  ...testing,
  method: 'POST',
  path: '/groups/:id/hooks/:hook_id/test/:trigger',
  summary: 'Send a webhook an example of an event, made of what the group and its projects hold',
  access: onGroupHook(),
  limit: perMinute('group_testing_hook', 5, 'caller_and_subject'),
  async handler({ ctx, group, hook, params: { trigger }, request }) {
    await testHook(ctx, hook, { place: { group }, trigger }, request.signal)
    return { message: '201 Created' }
  },
})
