import { z } from 'zod'
import { invalid } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { filledText, id, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { onVirtualGroup, onVirtualRegistry } from './access.ts'
import { presentRegistry, registryEntity, registryWithUpstreams } from './entity.ts'
import {
  countRegistries,
  deleteEntriesOf,
  deleteRegistry,
  insertRegistry,
  listExclusiveUpstreams,
  listLinks,
  listRegistries,
  updateRegistry,
} from './queries.ts'

const GROUP = '/groups/:id/-/virtual_registries/packages/maven/registries'
const ROOT = '/virtual_registries/packages/maven/registries'
const MOST = 20
const params = { registry_id: id() }

/** A name is there once in a group. */
async function unlessTaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    throw code === 'SQLITE_CONSTRAINT_UNIQUE'
      ? invalid({ name: ['has already been taken'] })
      : error
  }
}

export const listVirtualRegistries = endpoint({
  method: 'GET',
  path: GROUP,
  summary: 'List the virtual registries for Maven of a group',
  access: onVirtualGroup('read'),
  jobToken: true,
  response: z.array(registryEntity),
  handler: async ({ ctx, group }) => (await listRegistries(ctx.db, group.id)).map(presentRegistry),
})

export const createVirtualRegistry = endpoint({
  method: 'POST',
  path: GROUP,
  summary: 'Create a virtual registry for Maven',
  access: onVirtualGroup('write'),
  jobToken: true,
  body: { name: filledText({ max: 255 }), description: text({ max: 1024 }).nullish() },
  response: registryEntity,
  status: 201,
  async handler({ ctx, group, body }) {
    const { name, description = null } = body
    const values = (inner: Ctx) => ({
      group_id: group.id,
      name,
      description,
      created_at: inner.now(),
      updated_at: inner.now(),
    })
    const row = await unlessTaken(() =>
      inTransaction(ctx, async (inner) => {
        if ((await countRegistries(inner.db, group.id)) >= MOST) {
          throw invalid({ group: ['has too many virtual registries'] })
        }
        return await insertRegistry(inner.db, values(inner))
      }),
    )
    return presentRegistry(row)
  },
})

export const getVirtualRegistry = endpoint({
  method: 'GET',
  path: `${ROOT}/:registry_id`,
  summary: 'Get a virtual registry with the order of its upstreams',
  access: onVirtualRegistry('read'),
  params,
  jobToken: true,
  response: registryWithUpstreams,
  async handler({ ctx, registry }) {
    const links = await listLinks(ctx.db, registry.id)
    const registry_upstreams = links.map((link) => ({
      id: link.link_id,
      position: link.position,
      upstream_id: link.id,
    }))
    return { ...presentRegistry(registry), registry_upstreams }
  },
})

export const updateVirtualRegistry = endpoint({
  method: 'PATCH',
  path: `${ROOT}/:registry_id`,
  summary: 'Change the name or description of a virtual registry',
  access: onVirtualRegistry('write'),
  params,
  jobToken: true,
  body: { name: filledText({ max: 255 }), description: text({ max: 1024 }).nullish() },
  status: 200,
  async handler({ ctx, registry, body }) {
    const { name, description } = body
    const changes = {
      name,
      ...(description === undefined ? {} : { description }),
      updated_at: ctx.now(),
    }
    await unlessTaken(() => updateRegistry(ctx.db, registry.id, changes))
    return new Answer(undefined, { status: 200 })
  },
})

export const deleteVirtualRegistry = endpoint({
  method: 'DELETE',
  path: `${ROOT}/:registry_id`,
  summary: 'Delete a virtual registry, with the upstreams that no other one uses',
  access: onVirtualRegistry('write'),
  params,
  jobToken: true,
  async handler({ ctx, registry, request }) {
    assertUnmodifiedSince(request, registry.updated_at)
    await inTransaction(ctx, (inner) => deleteRegistry(inner.db, registry.id))
  },
})

export const purgeVirtualRegistry = endpoint({
  method: 'DELETE',
  path: `${ROOT}/:registry_id/cache`,
  summary: 'Delete the cache entries of the upstreams that only this virtual registry uses',
  access: onVirtualRegistry('write'),
  params,
  jobToken: true,
  handler: ({ ctx, registry }) =>
    inTransaction(ctx, async ({ db }) => {
      await deleteEntriesOf(db, await listExclusiveUpstreams(db, registry.id))
    }),
})
