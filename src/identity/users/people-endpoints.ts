import { z } from 'zod'
import { anyone, onInstance, signedIn } from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import { badRequest, notModified } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, oneOf, text } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { onUser } from './access.ts'
import { presentUserBasic, userBasicEntity } from './basic.ts'
import { callerId, getUser } from './find-user.ts'
import { deleteFollow, followsQuery, insertFollow } from './follow-queries.ts'
import { membershipsQuery } from './membership-queries.ts'
import { getUserWithProfile } from './profile/visible-profile.ts'
import { countAssociations, countAuthored } from './queries.ts'

const readScopes = ['api', 'read_api', 'read_user']

export const followUser = endpoint({
  method: 'POST',
  path: '/users/:id/follow',
  summary: 'Follow a user',
  access: signedIn(),
  params: { id: id() },
  response: userBasicEntity,
  async handler({ ctx, params }) {
    const user = await getUser(ctx, params.id)
    if (user.id === callerId(ctx)) throw badRequest('You cannot follow yourself')
    if (!(await insertFollow(ctx.db, callerId(ctx), user.id, ctx.now()))) throw notModified()
    return presentUserBasic(ctx, user)
  },
})

export const unfollowUser = endpoint({
  method: 'POST',
  path: '/users/:id/unfollow',
  summary: 'Follow a user no longer',
  access: signedIn(),
  params: { id: id() },
  response: userBasicEntity,
  async handler({ ctx, params }) {
    const user = await getUser(ctx, params.id)
    if (!(await deleteFollow(ctx.db, callerId(ctx), user.id))) throw notModified()
    return presentUserBasic(ctx, user)
  },
})

function followList(which: 'followers' | 'following', summary: string) {
  return endpoint({
    method: 'GET',
    path: `/users/:id/${which}`,
    summary,
    access: anyone(),
    scopes: readScopes,
    params: { id: text() },
    paginate: 'offset',
    response: z.array(userBasicEntity),
    async handler({ ctx, params, page }) {
      const user = await getUserWithProfile(ctx, params.id)
      const rows = await listPage(ctx.db, followsQuery(ctx.db, user.id, which), page)
      return { ...rows, items: rows.items.map((row) => presentUserBasic(ctx, row)) }
    },
  })
}

export const listFollowers = followList('followers', 'List who follows a user')
export const listFollowing = followList('following', 'List whom a user follows')

export const getAssociationsCount = endpoint({
  method: 'GET',
  path: '/users/:id/associations_count',
  summary: 'Count the groups, projects and other things of a user',
  access: onUser('read_user_details'),
  response: z.strictObject({
    groups_count: z.int(),
    projects_count: z.int(),
    issues_count: z.int(),
    merge_requests_count: z.int(),
  }),
  async handler({ ctx, user }) {
    const today = dayOf(ctx.now())
    const { groups_count, projects_count } = await countAssociations(ctx.db, user.id, today)
    return {
      groups_count,
      projects_count,
      issues_count: await countAuthored(ctx.db, 'issues', user.id),
      merge_requests_count: await countAuthored(ctx.db, 'merge_requests', user.id),
    }
  },
})

const membershipEntity = z.strictObject({
  source_id: z.int(),
  source_name: z.string(),
  source_type: z.enum(['Project', 'Namespace']),
  access_level: z.int(),
})

export const listMemberships = endpoint({
  method: 'GET',
  path: '/users/:id/memberships',
  summary: 'List the groups and projects that a user is a member of',
  access: onInstance(),
  params: { id: id() },
  query: { type: oneOf(['Project', 'Namespace']).optional() },
  paginate: 'offset',
  response: z.array(membershipEntity),
  async handler({ ctx, params, query, page }) {
    const user = await getUser(ctx, params.id)
    const today = dayOf(ctx.now())
    return listPage(ctx.db, membershipsQuery(ctx.db, user.id, today, query.type), page)
  },
})
