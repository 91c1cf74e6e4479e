import { userOf } from '../../../access/actor.ts'
import { type Condition, condition } from '../../../access/conditions.ts'
import { findGroupRole, findProjectRole } from '../../../access/find-queries.ts'
import { eitherRecord } from '../../../access/records.ts'
import { Role } from '../../../access/roles.ts'
import { readEither, type Source } from '../../../access/sources.ts'
import { dayOf } from '../../../base/clock.ts'
import { forbidden, unauthorized } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { id } from '../../../http/params.ts'
import { membersOrder } from '../access.ts'
import { getRequest } from './access-requests.ts'

const request = eitherRecord(readEither, {
  params: { user_id: id() },
  find: async ({ ctx, source, params }) => ({
    accessRequest: await getRequest(ctx, source, params.user_id),
  }),
  updatedAt: ({ accessRequest }) => accessRequest.updated_at,
  conditions: ({ ctx, accessRequest }) => ({
    oneself: accessRequest.user_id === userOf(ctx.actor)?.id,
  }),
})

/** The pending request of `:user_id`. */
export function onAccessRequest(ability: 'add_member' | 'remove_access_request') {
  return request(ability, membersOrder)
}

/** The caller's role by memberships alone: an administrator may be no member. */
function memberRole(ctx: Ctx, source: Source, userId: number): Promise<number> {
  const today = dayOf(ctx.now())
  if (source.type === 'group') return findGroupRole(ctx.db, userId, source.id, today)
  return findProjectRole(ctx.db, userId, source, today)
}

function takesRequests(source: Source): boolean {
  if (source.archived) return false
  return source.type === 'group'
    ? source.request_access_enabled === 1
    : source.settings.request_access_enabled !== false
}

/** Members need not ask, and where requests are switched off nobody may. */
export const asksForAccess: Condition<{ readonly ctx: Ctx; readonly source: Source }> = condition(
  'no member, where requests are taken',
  async ({ ctx, source }) => {
    const user = userOf(ctx.actor)
    if (!user) return unauthorized()
    if (!takesRequests(source)) return forbidden()
    return (await memberRole(ctx, source, user.id)) > Role.none ? forbidden() : true
  },
)
