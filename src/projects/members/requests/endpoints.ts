import { z } from 'zod'
import { Role } from '../../../access/roles.ts'
import type { Ctx } from '../../../ctx.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { integer } from '../../../http/params.ts'
import { presentUserBasic, userBasicEntity } from '../../../identity/users/basic.ts'
import { givesLevel, onMembers } from '../access.ts'
import { memberEntity } from '../entity.ts'
import { readMember } from '../visible-members.ts'
import { asksForAccess, onAccessRequest } from './access.ts'
import { approveRequest, denyRequest, requestAccess } from './access-requests.ts'
import { listRequesters, type RequesterRow } from './queries.ts'

const requesterEntity = userBasicEntity.extend({ requested_at: z.string(), created_at: z.string() })

function presentRequester(ctx: Ctx, row: RequesterRow): z.input<typeof requesterEntity> {
  return {
    ...presentUserBasic(ctx, row),
    requested_at: row.requested_at,
    created_at: row.created_at,
  }
}

export const getAccessRequests = endpoint({
  method: 'GET',
  path: '/:source/:id/access_requests',
  summary: 'List the access requests of a project or group',
  access: onMembers('admin_access_requests'),
  paginate: 'offset',
  response: z.array(requesterEntity),
  async handler({ ctx, source, page }) {
    const rows = await listRequesters(ctx.db, source, page)
    return { ...rows, items: rows.items.map((row) => presentRequester(ctx, row)) }
  },
})

export const postAccessRequest = endpoint({
  method: 'POST',
  path: '/:source/:id/access_requests',
  summary: 'Ask for access to a project or group',
  access: onMembers(),
  conditions: [asksForAccess],
  response: requesterEntity,
  handler: async ({ ctx, source }) => presentRequester(ctx, await requestAccess(ctx, source)),
})

export const approveAccessRequest = endpoint({
  method: 'PUT',
  path: '/:source/:id/access_requests/:user_id/approve',
  summary: 'Approve an access request of a project or group',
  access: onAccessRequest('add_member'),
  body: { access_level: integer().optional() },
  conditions: [givesLevel(Role.developer)],
  response: memberEntity,
  status: 201,
  async handler({ ctx, source, accessRequest, body }) {
    const userId = accessRequest.user_id ?? 0
    await approveRequest(ctx, source, userId, body.access_level ?? Role.developer)
    return await readMember(ctx, source, userId)
  },
})

export const deleteAccessRequest = endpoint({
  method: 'DELETE',
  path: '/:source/:id/access_requests/:user_id',
  summary: 'Deny access to a project or group, or take the own request back',
  access: onAccessRequest('remove_access_request'),
  async handler({ ctx, source, accessRequest }) {
    await denyRequest(ctx, source, accessRequest.user_id ?? 0)
  },
})
