import { z } from 'zod'
import { onEither, type SourceKind, sourceWord } from '../../access/sources.ts'
import { type Endpoint, endpoint, perMinute } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { onHook } from './access.ts'
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

function testEndpoint(kind: SourceKind, summary: string): Endpoint {
  return endpoint({
    method: 'POST',
    path: `/${kind}/:id/hooks/:hook_id/test/:trigger`,
    summary,
    access: onHook().forms[kind],
    params: { trigger: text({ max: 100 }) },
    limit: perMinute(`${sourceWord[kind]}_testing_hook`, 5, 'caller_and_subject'),
    response: z.strictObject({ message: z.string() }),
    async handler({ ctx, source, hook, params: { trigger }, request }) {
      await testHook(ctx, hook, { source, trigger }, request.signal)
      return { message: '201 Created' }
    },
  })
}

export const testProjectHook = testEndpoint(
  'projects',
  'Send a webhook an example of an event, made of what the project holds',
)
export const testGroupHook = testEndpoint(
  'groups',
  'Send a webhook an example of an event, made of what the group and its projects hold',
)
