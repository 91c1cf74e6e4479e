import { z } from 'zod'
import { Role } from '../../../access/roles.ts'
import type { SourceKind } from '../../../access/sources.ts'
import { notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { assertUnmodifiedSince } from '../../../http/conditional.ts'
import { type Endpoint, endpoint } from '../../../http/endpoint.ts'
import { id, integer } from '../../../http/params.ts'
import { presentUserBasic, userBasicEntity } from '../../../identity/users/basic.ts'
import { memberEntity } from '../entity.ts'
import { readMember } from '../read-member.ts'
import { assertMayAdmin } from '../rules.ts'
import { onSource } from '../source.ts'
import { approveRequest, denyRequest, getRequest, requestAccess } from './access-requests.ts'
import { listRequesters, type RequesterRow } from './queries.ts'

const requesterEntity = userBasicEntity.extend({ requested_at: z.string(), created_at: z.string() })

function presentRequester(ctx: Ctx, row: RequesterRow): z.input<typeof requesterEntity> {
  if (row.requested_at === null) throw notFound()
  return {
    ...presentUserBasic(ctx, row),
    requested_at: row.requested_at,
    created_at: row.created_at,
  }
}

const word = { groups: 'group', projects: 'project' } as const

function routes(kind: SourceKind): Endpoint[] {
  const tags = ['access requests']
  return [
    endpoint({
      method: 'GET',
      path: `/${kind}/:id/access_requests`,
      summary: `List who asked for access to a ${word[kind]}`,
      tags,
      access: onSource(kind),
      paginate: 'offset',
      response: z.array(requesterEntity),
      async handler({ ctx, source, page }) {
        assertMayAdmin(source)
        const rows = await listRequesters(ctx.db, source, page)
        return { ...rows, items: rows.items.map((row) => presentRequester(ctx, row)) }
      },
    }),
    endpoint({
      method: 'POST',
      path: `/${kind}/:id/access_requests`,
      summary: `Ask for access to a ${word[kind]}`,
      tags,
      access: onSource(kind),
      response: requesterEntity,
      status: 201,
      handler: async ({ ctx, source }) => presentRequester(ctx, await requestAccess(ctx, source)),
    }),
    endpoint({
      method: 'PUT',
      path: `/${kind}/:id/access_requests/:user_id/approve`,
      summary: `Give access to a ${word[kind]} to somebody who asked`,
      tags,
      access: onSource(kind),
      params: { user_id: id() },
      body: { access_level: integer().optional() },
      response: memberEntity,
      status: 201,
      async handler({ ctx, source, params, body }) {
        const level = body.access_level ?? Role.developer
        await approveRequest(ctx, source, params.user_id, level)
        return await readMember(ctx, source, params.user_id, false)
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `/${kind}/:id/access_requests/:user_id`,
      summary: `Deny access to a ${word[kind]}, or take the own request back`,
      tags,
      access: onSource(kind),
      params: { user_id: id() },
      async handler({ ctx, source, params, request }) {
        const row = await getRequest(ctx, source, params.user_id)
        assertUnmodifiedSince(request, row.updated_at)
        await denyRequest(ctx, source, row)
      },
    }),
  ]
}

export const accessRequestEndpoints: readonly Endpoint[] = [
  ...routes('projects'),
  ...routes('groups'),
]
