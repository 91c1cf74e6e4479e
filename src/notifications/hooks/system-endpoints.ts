import { z } from 'zod'
import { onInstance } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id } from '../../http/params.ts'
import { presentSystemHook, systemHookEntity } from './entity.ts'
import { hookBodies, newUrl, otherUrl } from './params.ts'
import { type HookOwner, listHookRows } from './queries.ts'
import { systemExample, testHook } from './test-hook.ts'
import { changeHook, createHook, getHook, removeHook } from './verbs.ts'

const access = onInstance()
const params = { id: id() }
const owner: HookOwner = { type: 'system' }

export const listSystemHooks = endpoint({
  method: 'GET',
  path: '/hooks',
  summary: 'List the hooks of the instance',
  access,
  paginate: 'offset',
  response: z.array(systemHookEntity),
  async handler({ ctx, page }) {
    const rows = await listHookRows(ctx.db, owner, page)
    return { ...rows, items: rows.items.map((row) => presentSystemHook(ctx, row)) }
  },
})

export const getSystemHook = endpoint({
  method: 'GET',
  path: '/hooks/:id',
  summary: 'Get a hook of the instance',
  access,
  params,
  response: systemHookEntity,
  handler: async ({ ctx, params: { id } }) => presentSystemHook(ctx, await getHook(ctx, owner, id)),
})

export const createSystemHook = endpoint({
  method: 'POST',
  path: '/hooks',
  summary: 'Add a hook for events of the whole instance',
  access,
  body: { ...hookBodies.system, ...newUrl },
  response: systemHookEntity,
  handler: async ({ ctx, body }) => presentSystemHook(ctx, await createHook(ctx, owner, body)),
})

export const updateSystemHook = endpoint({
  method: 'PUT',
  path: '/hooks/:id',
  summary: 'Change a hook of the instance',
  access,
  params,
  body: { ...hookBodies.system, ...otherUrl },
  response: systemHookEntity,
  handler: async ({ ctx, params: { id }, body }) =>
    presentSystemHook(ctx, await changeHook(ctx, owner, await getHook(ctx, owner, id), body)),
})

/** Sends an example, and answers with it (docs/contract/D §1.25). */
export const testSystemHook = endpoint({
  method: 'POST',
  path: '/hooks/:id',
  summary: 'Send a hook of the instance an example',
  access,
  params,
  response: z.record(z.string(), z.unknown()),
  async handler({ ctx, params: { id }, request }) {
    await testHook(ctx, await getHook(ctx, owner, id), null, request.signal)
    return systemExample
  },
})

export const deleteSystemHook = endpoint({
  method: 'DELETE',
  path: '/hooks/:id',
  summary: 'Remove a hook of the instance',
  access,
  params,
  handler: async ({ ctx, params: { id } }) => removeHook(ctx, owner, await getHook(ctx, owner, id)),
})
