import { z } from 'zod'
import { getVisibleGroup, getVisibleProject, onInstance } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { getUser } from '../users/find-user.ts'
import { type AttributeSubject, deleteAttribute, listAttributes, saveAttribute } from './queries.ts'

const attributeEntity = z.strictObject({ key: z.string(), value: z.string() })

const subjects = {
  users: { type: 'user', get: getUser },
  groups: { type: 'group', get: getVisibleGroup },
  projects: { type: 'project', get: getVisibleProject },
} as const

/** Free texts that administrators keep beside users, groups and projects (docs/contract/D §1.1 to §1.3). */
function routes(kind: keyof typeof subjects): Endpoint[] {
  const { type, get } = subjects[kind]
  const find = async (ctx: Ctx, id: string): Promise<AttributeSubject> => ({
    type,
    id: (await get(ctx, id)).id,
  })
  return [
    endpoint({
      method: 'GET',
      path: `/${kind}/:id/custom_attributes`,
      summary: `List the custom attributes of a ${type}`,
      access: onInstance(),
      params: { id: text() },
      response: z.array(attributeEntity),
      handler: async ({ ctx, params }) => await listAttributes(ctx.db, await find(ctx, params.id)),
    }),
    endpoint({
      method: 'GET',
      path: `/${kind}/:id/custom_attributes/:key`,
      summary: `Get a custom attribute of a ${type}`,
      access: onInstance(),
      params: { id: text(), key: text() },
      response: attributeEntity,
      async handler({ ctx, params }) {
        const all = await listAttributes(ctx.db, await find(ctx, params.id))
        const row = all.find((one) => one.key === params.key)
        if (!row) throw notFound('CustomAttribute')
        return row
      },
    }),
    endpoint({
      method: 'PUT',
      path: `/${kind}/:id/custom_attributes/:key`,
      summary: `Set a custom attribute of a ${type}`,
      access: onInstance(),
      params: { id: text(), key: text({ max: 255 }) },
      body: { value: text({ max: 255 }) },
      response: attributeEntity,
      async handler({ ctx, params, body }) {
        const attribute = { key: params.key, value: body.value }
        await saveAttribute(ctx.db, await find(ctx, params.id), attribute, ctx.now())
        return attribute
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `/${kind}/:id/custom_attributes/:key`,
      summary: `Delete a custom attribute of a ${type}`,
      access: onInstance(),
      params: { id: text(), key: text() },
      async handler({ ctx, params }) {
        const subject = await find(ctx, params.id)
        if (!(await deleteAttribute(ctx.db, subject, params.key))) {
          throw notFound('CustomAttribute')
        }
      },
    }),
  ]
}

export const customAttributeEndpoints: readonly Endpoint[] = [
  ...routes('users'),
  ...routes('groups'),
  ...routes('projects'),
]
