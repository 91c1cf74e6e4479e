import { z } from 'zod'
import { anyone, onInstance, signedIn } from '../../access/subjects.ts'
import type { Page, Paged } from '../../base/page.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint, type Shape } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { callerId, getUser } from '../users/find-user.ts'
import { getUserWithProfile } from '../users/profile/visible-profile.ts'

/** Keys of one kind, which people keep for themselves and administrators for them. */
interface KeysOfPeople<Row, Item, Body extends Shape> {
  /** The last part of their paths. */
  readonly path: string
  /** `an SSH key` */
  readonly what: string
  /** What is not found. */
  readonly missing: string
  /** The parameter that names the user in the paths without a key. */
  readonly user: 'id' | 'user_id'
  readonly entity: z.ZodType<Item, Item>
  readonly body: Body
  list(ctx: Ctx, userId: number, page: Page): Promise<Paged<Row>>
  find(ctx: Ctx, userId: number, keyId: number): Promise<Row | undefined>
  add(ctx: Ctx, userId: number, body: z.infer<z.ZodObject<Body>>): Promise<Row>
  remove(ctx: Ctx, row: Row): Promise<void>
  present(row: Row): Item
}

/** The endpoints of keys below `/user` and `/users/:id`; whoever sees the profile of somebody reads their public keys. */
export function keysOfPeople<Row, Item, Body extends Shape>(keys: KeysOfPeople<Row, Item, Body>) {
  const { what, entity, body, present } = keys
  const plural = `${what.replace(/^an? /, '')}s`
  const own = `/user/${keys.path}`
  const all = `/users/:${keys.user}/${keys.path}`
  const one = `/users/:id/${keys.path}/:key_id`
  const scopes = ['api', 'read_api', 'read_user']
  const list = async (ctx: Ctx, userId: number, page: Page) => {
    const rows = await keys.list(ctx, userId, page)
    return { ...rows, items: rows.items.map(present) }
  }
  const get = async (ctx: Ctx, userId: number, keyId: number) =>
    existing(await keys.find(ctx, userId, keyId), keys.missing)
  // It was read by the schemas of `keys.body`.
  const add = async (ctx: Ctx, userId: number, given: unknown) =>
    present(await keys.add(ctx, userId, given as z.infer<z.ZodObject<Body>>))
  return {
    listOwn: endpoint({
      method: 'GET',
      path: own,
      summary: `List the caller's ${plural}`,
      access: signedIn(),
      scopes,
      paginate: 'offset',
      response: z.array(entity),
      handler: ({ ctx, page }) => list(ctx, callerId(ctx), page),
    }),
    getOwn: endpoint({
      method: 'GET',
      path: `${own}/:key_id` as const,
      summary: `Get one of the caller's ${plural}`,
      access: signedIn(),
      scopes,
      params: { key_id: id() },
      response: entity,
      handler: async ({ ctx, params }) => present(await get(ctx, callerId(ctx), params.key_id)),
    }),
    addOwn: endpoint({
      method: 'POST',
      path: own,
      summary: `Add ${what} of the caller`,
      access: signedIn(),
      body,
      response: entity,
      handler: ({ ctx, body }) => add(ctx, callerId(ctx), body),
    }),
    removeOwn: endpoint({
      method: 'DELETE',
      path: `${own}/:key_id` as const,
      summary: `Remove ${what} of the caller`,
      access: signedIn(),
      params: { key_id: id() },
      handler: async ({ ctx, params }) =>
        keys.remove(ctx, await get(ctx, callerId(ctx), params.key_id)),
    }),
    ofOthers: [
      endpoint({
        method: 'GET',
        path: all,
        summary: `List the ${plural} of a user`,
        access: anyone(),
        scopes,
        params: { [keys.user]: text() },
        paginate: 'offset',
        response: z.array(entity),
        handler: async ({ ctx, params, page }) =>
          list(ctx, (await getUserWithProfile(ctx, String(params[keys.user]))).id, page),
      }),
      endpoint({
        method: 'GET',
        path: one,
        summary: `Get ${what} of a user`,
        access: anyone(),
        scopes,
        params: { id: text(), key_id: id() },
        response: entity,
        async handler({ ctx, params }) {
          const user = await getUserWithProfile(ctx, params.id)
          return present(await get(ctx, user.id, params.key_id))
        },
      }),
      endpoint({
        method: 'POST',
        path: all,
        summary: `Add ${what} of a user`,
        access: onInstance(),
        params: { [keys.user]: id() },
        body,
        response: entity,
        handler: async ({ ctx, params, body }) =>
          add(ctx, (await getUser(ctx, Number(params[keys.user]))).id, body),
      }),
      endpoint({
        method: 'DELETE',
        path: one,
        summary: `Remove ${what} of a user`,
        access: onInstance(),
        params: { id: id(), key_id: id() },
        async handler({ ctx, params }) {
          const user = await getUser(ctx, params.id)
          await keys.remove(ctx, await get(ctx, user.id, params.key_id))
        },
      }),
    ],
  }
}
