import { z } from 'zod'
import { onEither } from '../../access/sources.ts'
import { endpoint } from '../../http/endpoint.ts'
import { onHook } from './access.ts'
import { groupHookEntity, presentGroupHook } from './entity.ts'
import { hookBodies, newUrl, otherUrl } from './params.ts'
import { listHookRows } from './queries.ts'
import { changeHook, createHook } from './verbs.ts'

const access = onEither('admin_hooks').forms.groups
const one = onHook().forms.groups

export const listGroupHooks = endpoint({
  method: 'GET',
  path: '/groups/:id/hooks',
  summary: 'List the webhooks of a group',
  access,
  paginate: 'offset',
  response: z.array(groupHookEntity),
  async handler({ ctx, source, page }) {
    const rows = await listHookRows(ctx.db, source, page)
    return { ...rows, items: rows.items.map((row) => presentGroupHook(ctx, row)) }
  },
})

export const getGroupHook = endpoint({
  method: 'GET',
  path: '/groups/:id/hooks/:hook_id',
  summary: 'Get a webhook of a group',
  access: one,
  response: groupHookEntity,
  handler: ({ ctx, hook }) => presentGroupHook(ctx, hook),
})

export const createGroupHook = endpoint({
  method: 'POST',
  path: '/groups/:id/hooks',
  summary: 'Add a webhook for events of all projects of a group',
  access,
  body: { ...hookBodies.group, ...newUrl },
  response: groupHookEntity,
  handler: async ({ ctx, source, body }) =>
    presentGroupHook(ctx, await createHook(ctx, source, body)),
})

export const updateGroupHook = endpoint({
  method: 'PUT',
  path: '/groups/:id/hooks/:hook_id',
  summary: 'Change a webhook of a group',
  access: one,
  body: { ...hookBodies.group, ...otherUrl },
  response: groupHookEntity,
  handler: async ({ ctx, source, hook, body }) =>
    presentGroupHook(ctx, await changeHook(ctx, source, hook, body)),
})
