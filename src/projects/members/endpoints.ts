import { z } from 'zod'
import type { SourceKind } from '../../access/sources.ts'
import { notFound } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../http/conditional.ts'
import { type Endpoint, endpoint, perMinuteAsSet } from '../../http/endpoint.ts'
import { csv, day, flag, id, integer, oneOf, text } from '../../http/params.ts'
import { addMember, addMembers } from './add-member.ts'
import { changeMember, getMembership, removeMember } from './change-member.ts'
import { addedManyEntity, memberEntity, presentMember } from './entity.ts'
import { listMemberViews } from './list-queries.ts'
import { memberScope, readMember } from './read-member.ts'
import { onSource } from './source.ts'

const word = { groups: 'group', projects: 'project' } as const

const listParams = {
  query: text({ max: 10_000 }).optional(),
  user_ids: csv(id()).optional(),
  show_seat_info: flag().optional(),
  with_saml_identity: flag().optional(),
} as const

function reads(kind: SourceKind): Endpoint[] {
  const tags = ['members']
  return [
    endpoint({
      method: 'GET',
      path: `/${kind}/:id/members`,
      summary: `List the direct members of a ${word[kind]}`,
      tags,
      access: onSource(kind),
      query: { ...listParams, skip_users: csv(id()).optional() },
      paginate: 'offset',
      response: z.array(memberEntity),
      async handler({ ctx, source, query, page }) {
        const rows = await listMemberViews(ctx.db, memberScope(ctx, source, false), query, page)
        const wanted = { seats: query.show_seat_info }
        return { ...rows, items: rows.items.map((row) => presentMember(ctx, row, wanted)) }
      },
    }),
    endpoint({
      method: 'GET',
      path: `/${kind}/:id/members/all`,
      summary: `List the members of a ${word[kind]}, inherited and invited ones included`,
      tags,
      access: onSource(kind),
      query: { ...listParams, state: oneOf(['awaiting', 'active']).optional() },
      paginate: 'offset',
      response: z.array(memberEntity),
      async handler({ ctx, source, query, page }) {
        const rows = await listMemberViews(ctx.db, memberScope(ctx, source, true), query, page)
        const wanted = { seats: query.show_seat_info }
        return { ...rows, items: rows.items.map((row) => presentMember(ctx, row, wanted)) }
      },
    }),
    endpoint({
      method: 'GET',
      path: `/${kind}/:id/members/:user_id`,
      summary: `Get a direct member of a ${word[kind]}`,
      tags,
      access: onSource(kind),
      params: { user_id: id() },
      response: memberEntity,
      handler: ({ ctx, source, params }) => readMember(ctx, source, params.user_id, false),
    }),
    endpoint({
      method: 'GET',
      path: `/${kind}/:id/members/all/:user_id`,
      summary: `Get a member of a ${word[kind]}, also an inherited or invited one`,
      tags,
      access: onSource(kind),
      params: { user_id: id() },
      response: memberEntity,
      handler: ({ ctx, source, params }) => readMember(ctx, source, params.user_id, true),
    }),
  ]
}

/** Exactly one of the two must be there. */
function oneUserParameter(sent: ReadonlySet<string>): string[] {
  const both = sent.has('user_id') && sent.has('username')
  if (both) return ['user_id, username are mutually exclusive']
  if (sent.has('user_id') || sent.has('username')) return []
  return ['user_id, username are missing, at least one parameter must be provided']
}

function writes(kind: SourceKind): Endpoint[] {
  const tags = ['members']
  return [
    endpoint({
      method: 'POST',
      path: `/${kind}/:id/members`,
      summary: `Add members to a ${word[kind]}`,
      tags,
      access: onSource(kind),
      body: {
        user_id: csv(id()).optional(),
        username: csv(text()).optional(),
        access_level: integer(),
        expires_at: day().nullable().optional(),
        member_role_id: id().nullable().optional(),
        invite_source: text().optional(),
      },
      check: oneUserParameter,
      response: memberEntity.or(addedManyEntity),
      status: 201,
      async handler({ ctx, source, body }) {
        const users = body.user_id
          ? body.user_id.map((id) => ({ id }))
          : (body.username ?? []).map((username) => ({ username }))
        const input = {
          level: body.access_level,
          expiresAt: body.expires_at,
          memberRoleId: body.member_role_id,
        }
        const [only] = users
        if (!only) throw notFound('User')
        if (users.length > 1) return await addMembers(ctx, source, users, input)
        const userId = await addMember(ctx, source, only, input)
        return await readMember(ctx, source, userId, false)
      },
    }),
    endpoint({
      method: 'PUT',
      path: `/${kind}/:id/members/:user_id`,
      summary: `Change the role of a member of a ${word[kind]}`,
      tags,
      access: onSource(kind),
      params: { user_id: id() },
      body: {
        access_level: integer(),
        expires_at: day()
          .or(text({ max: 0 }).transform(() => null))
          .nullable()
          .optional(),
        member_role_id: id().nullable().optional(),
      },
      response: memberEntity,
      async handler({ ctx, source, params, body }) {
        await changeMember(ctx, source, params.user_id, {
          level: body.access_level,
          expiresAt: body.expires_at,
          memberRoleId: body.member_role_id,
        })
        return await readMember(ctx, source, params.user_id, false)
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `/${kind}/:id/members/:user_id`,
      summary: `Remove a member from a ${word[kind]}`,
      tags,
      access: onSource(kind),
      params: { user_id: id() },
      query: { skip_subresources: flag().optional(), unassign_issuables: flag().optional() },
      limit: perMinuteAsSet('members_delete_limit', 'caller_and_subject'),
      async handler({ ctx, source, params, query, request }) {
        const row = await getMembership(ctx, source, params.user_id)
        assertUnmodifiedSince(request, row.updated_at)
        await removeMember(ctx, source, params.user_id, {
          skipSubresources: query.skip_subresources ?? false,
          unassign: query.unassign_issuables ?? false,
        })
      },
    }),
  ]
}

export const memberEndpoints: readonly Endpoint[] = (['projects', 'groups'] as const).flatMap(
  (kind) => [...reads(kind), ...writes(kind)],
)
