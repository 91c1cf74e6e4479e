import { z } from 'zod'
import { signedIn } from '../../access/subjects.ts'
import { badRequest, invalid } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { filledText, id, integer, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import {
  admitLink,
  mayLink,
  onRegistryUpstream,
  onUpstream,
  onVirtualGroup,
  onVirtualRegistry,
} from './access.ts'
import { testUpstream } from './ask.ts'
import {
  linkEntity,
  presentUpstream,
  testEntity,
  upstreamEntity,
  upstreamInRegistry,
  upstreamWithPlaces,
} from './entity.ts'
import { findSomePath } from './entry-queries.ts'
import {
  deleteEntriesOf,
  deleteLink,
  deleteUpstream,
  insertLink,
  listLinks,
  listLinksOf,
  listUpstreams,
  saveOrder,
} from './queries.ts'
import {
  addressOf,
  assertPair,
  assertRoom,
  changeUpstream,
  createUpstream,
  credentialsIn,
  readUrl,
  type UpstreamInput,
} from './upstream.ts'

const ROOT = '/virtual_registries/packages/maven'
const GROUP = '/groups/:id/-/virtual_registries/packages/maven'
const number = id()
const secret = text({ max: 510 })
const hours = integer({ min: 0, max: 100_000 })

const fields = {
  name: filledText({ max: 255 }).optional(),
  description: text({ max: 1024 }).nullish(),
  username: secret.optional(),
  password: secret.optional(),
  cache_validity_hours: hours.optional(),
  metadata_cache_validity_hours: integer({ min: 1, max: 100_000 }).optional(),
}

export const listRegistryUpstreams = endpoint({
  method: 'GET',
  path: `${ROOT}/registries/:registry_id/upstreams`,
  summary: 'List the upstreams of a virtual registry in their order',
  access: onVirtualRegistry('read'),
  params: { registry_id: number },
  jobToken: true,
  response: z.array(upstreamInRegistry),
  async handler({ ctx, registry }) {
    const links = await listLinks(ctx.db, registry.id)
    return links.map(({ link_id, position, ...row }) => ({
      ...presentUpstream(row),
      registry_upstream: { id: link_id, registry_id: registry.id, position },
    }))
  },
})

export const createRegistryUpstream = endpoint({
  method: 'POST',
  path: `${ROOT}/registries/:registry_id/upstreams`,
  summary: 'Add an upstream at the end of a virtual registry',
  access: onVirtualRegistry('write'),
  params: { registry_id: number },
  jobToken: true,
  body: { url: filledText({ max: 255 }), ...fields },
  response: upstreamInRegistry,
  status: 201,
  async handler({ ctx, registry, body }) {
    const { upstream, link } = await createUpstream(ctx, registry, body)
    const { id, registry_id, position } = link
    return { ...presentUpstream(upstream), registry_upstream: { id, registry_id, position } }
  },
})

export const listGroupUpstreams = endpoint({
  method: 'GET',
  path: `${GROUP}/upstreams`,
  summary: 'List the upstreams of the virtual registries of a group',
  access: onVirtualGroup('read', { ofUpstreams: true }),
  jobToken: true,
  query: { upstream_name: text({ max: 255 }).optional() },
  paginate: 'offset',
  response: z.array(upstreamEntity),
  async handler({ ctx, group, query, page }) {
    const found = await listUpstreams(ctx.db, group.id, query.upstream_name, page)
    return { ...found, items: found.items.map(presentUpstream) }
  },
})

export const testNewUpstream = endpoint({
  method: 'POST',
  path: `${GROUP}/upstreams/test`,
  summary: 'Test an upstream before it is created',
  access: onVirtualGroup('read', { ofUpstreams: true }),
  jobToken: true,
  body: { url: filledText({ max: 255 }), username: secret.optional(), password: secret.optional() },
  response: testEntity,
  status: 200,
  async handler({ ctx, body }) {
    assertPair(body)
    const url = await readUrl(ctx, body.url)
    return await testUpstream(ctx, { url, ...credentialsIn(body) }, undefined)
  },
})

export const getUpstream = endpoint({
  method: 'GET',
  path: `${ROOT}/upstreams/:upstream_id`,
  summary: 'Get an upstream with the registries that use it',
  access: onUpstream('read'),
  params: { upstream_id: number },
  jobToken: true,
  response: upstreamWithPlaces,
  async handler({ ctx, upstream }) {
    const links = await listLinksOf(ctx.db, upstream.id)
    const registry_upstreams = links.map(({ id, registry_id, position }) => ({
      id,
      registry_id,
      position,
    }))
    return { ...presentUpstream(upstream), registry_upstreams }
  },
})

export const updateVirtualUpstream = endpoint({
  method: 'PATCH',
  path: `${ROOT}/upstreams/:upstream_id`,
  summary: 'Change an upstream',
  access: onUpstream('write'),
  params: { upstream_id: number },
  jobToken: true,
  body: { url: filledText({ max: 255 }).optional(), ...fields },
  status: 200,
  async handler({ ctx, upstream, body }) {
    const input: UpstreamInput = body
    if (Object.values(input).every((value) => value === undefined)) {
      throw badRequest('at least one parameter must be provided')
    }
    await changeUpstream(ctx, upstream.id, input)
    return new Answer(undefined, { status: 200 })
  },
})

export const deleteVirtualUpstream = endpoint({
  method: 'DELETE',
  path: `${ROOT}/upstreams/:upstream_id`,
  summary: 'Delete an upstream from all registries',
  access: onUpstream('write'),
  params: { upstream_id: number },
  jobToken: true,
  async handler({ ctx, upstream, request }) {
    assertUnmodifiedSince(request, upstream.updated_at)
    await inTransaction(ctx, (inner) => deleteUpstream(inner.db, upstream.id))
  },
})

export const purgeUpstream = endpoint({
  method: 'DELETE',
  path: `${ROOT}/upstreams/:upstream_id/cache`,
  summary: 'Delete the cache entries of an upstream',
  access: onUpstream('write'),
  params: { upstream_id: number },
  jobToken: true,
  handler: ({ ctx, upstream }) => deleteEntriesOf(ctx.db, [upstream.id]),
})

export const testKnownUpstream = endpoint({
  method: 'GET',
  path: `${ROOT}/upstreams/:upstream_id/test`,
  summary: 'Try whether an upstream answers',
  access: onUpstream('read'),
  params: { upstream_id: number },
  jobToken: true,
  response: testEntity,
  handler: async ({ ctx, upstream }) =>
    testUpstream(ctx, addressOf(ctx, upstream), await findSomePath(ctx.db, upstream.id)),
})

export const testChangedUpstream = endpoint({
  method: 'POST',
  path: `${ROOT}/upstreams/:upstream_id/test`,
  summary: 'Try whether an upstream would answer at another address or with other credentials',
  access: onUpstream('read'),
  params: { upstream_id: number },
  jobToken: true,
  body: {
    url: filledText({ max: 255 }).optional(),
    username: secret.optional(),
    password: secret.optional(),
  },
  response: testEntity,
  status: 200,
  async handler({ ctx, upstream, body }) {
    const known = addressOf(ctx, upstream)
    const url = body.url === undefined ? known.url : await readUrl(ctx, body.url)
    const own = url === known.url ? known : { username: null, password: null }
    const isGiven = body.username !== undefined && body.password !== undefined
    const as = isGiven ? { username: body.username ?? null, password: body.password ?? null } : own
    const path = await findSomePath(ctx.db, upstream.id)
    return await testUpstream(ctx, { ...as, url }, path)
  },
})

export const linkUpstream = endpoint({
  method: 'POST',
  path: `${ROOT}/registry_upstreams`,
  summary: 'Add an existing upstream to a virtual registry of its group',
  access: signedIn(),
  conditions: [mayLink],
  jobToken: true,
  body: { registry_id: id(), upstream_id: id() },
  response: linkEntity,
  status: 201,
  async handler({ ctx, body }) {
    return await inTransaction(ctx, async (inner) => {
      // Either may have gone since the caller was judged.
      await admitLink(inner, body)
      const known = await listLinks(inner.db, body.registry_id)
      if (known.some((link) => link.id === body.upstream_id)) {
        throw invalid({ upstream_id: ['has already been taken'] })
      }
      await assertRoom(inner, body.registry_id)
      return await insertLink(inner.db, body.registry_id, body.upstream_id)
    })
  },
})

export const moveUpstream = endpoint({
  method: 'PATCH',
  path: `${ROOT}/registry_upstreams/:registry_upstream_id`,
  summary: 'Give an upstream another place in a virtual registry',
  access: onRegistryUpstream(),
  params: { registry_upstream_id: number },
  jobToken: true,
  body: { position: integer({ min: 1, max: 20 }) },
  status: 200,
  async handler({ ctx, link, body }) {
    await inTransaction(ctx, async ({ db }) => {
      const ids = (await listLinks(db, link.registry_id)).map((one) => one.link_id)
      const others = ids.filter((one) => one !== link.id)
      await saveOrder(db, others.toSpliced(body.position - 1, 0, link.id))
    })
    return new Answer(undefined, { status: 200 })
  },
})

export const unlinkUpstream = endpoint({
  method: 'DELETE',
  path: `${ROOT}/registry_upstreams/:registry_upstream_id`,
  summary: 'Take an upstream from a virtual registry',
  access: onRegistryUpstream(),
  params: { registry_upstream_id: number },
  jobToken: true,
  handler: ({ ctx, link }) => inTransaction(ctx, (inner) => deleteLink(inner.db, link.id)),
})
