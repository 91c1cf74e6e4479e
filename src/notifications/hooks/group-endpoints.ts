import { z } from 'zod'
import { type Group, onGroup } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { groupHookEntity, presentGroupHook } from './entity.ts'
import { hookBodies, hookId, newUrl, otherUrl } from './params.ts'
import { type HookOwner, listHookRows } from './queries.ts'
import { changeHook, createHook, getHook, removeHook } from './verbs.ts'

const tags = ['webhooks']
const access = onGroup('admin_hooks')
const ownerOf = (group: Group): HookOwner => ({ kind: 'group', id: group.id })

export const listGroupHooks = endpoint({
  method: 'GET',
  path: '/groups/:id/hooks',
  summary: 'List the webhooks of a group',
  tags,
  access,
  paginate: 'offset',
  response: z.array(groupHookEntity),
  async handler({ ctx, group, page }) {
    const rows = await listHookRows(ctx.db, ownerOf(group), page)
    return { ...rows, items: rows.items.map((row) => presentGroupHook(ctx, row)) }
  },
})

export const getGroupHook = endpoint({
  method: 'GET',
  path: '/groups/:id/hooks/:hook_id',
  summary: 'Get a webhook of a group',
  tags,
  access,
  params: hookId,
  response: groupHookEntity,
  handler: async ({ ctx, group, params: { hook_id } }) =>
    presentGroupHook(ctx, await getHook(ctx, ownerOf(group), hook_id)),
})

export const createGroupHook = endpoint({
  method: 'POST',
  path: '/groups/:id/hooks',
  summary: 'Add a webhook that hears of all projects of a group',
  tags,
  access,
  body: { ...hookBodies.group, ...newUrl },
  response: groupHookEntity,
  status: 201,
  handler: async ({ ctx, group, body }) =>
    presentGroupHook(ctx, await createHook(ctx, ownerOf(group), body)),
})

export const updateGroupHook = endpoint({
  method: 'PUT',
  path: '/groups/:id/hooks/:hook_id',
  summary: 'Change a webhook of a group',
  tags,
  access,
  params: hookId,
  body: { ...hookBodies.group, ...otherUrl },
  response: groupHookEntity,
  async handler({ ctx, group, params: { hook_id }, body }) {
    const owner = ownerOf(group)
    const row = await getHook(ctx, owner, hook_id)
    return presentGroupHook(ctx, await changeHook(ctx, owner, row, body))
  },
})

export const deleteGroupHook = endpoint({
  method: 'DELETE',
  path: '/groups/:id/hooks/:hook_id',
  summary: 'Remove a webhook from a group',
  tags,
  access,
  params: hookId,
  async handler({ ctx, group, params: { hook_id } }) {
    const owner = ownerOf(group)
    await removeHook(ctx, owner, await getHook(ctx, owner, hook_id))
  },
})
