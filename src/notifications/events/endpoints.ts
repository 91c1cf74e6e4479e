import { z } from 'zod'
import { anyone, onProject, signedIn } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { OffsetPage } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { day, oneOf, text } from '../../http/params.ts'
import { callerId, getUser } from '../../identity/users/find-user.ts'
import { maySeeProfile } from '../../identity/users/profile/visible-profile.ts'
import { eventEntity, presentEvents } from './entity.ts'
import { type EventFilter, listEventRows } from './list-queries.ts'

/** What the words of the filter mean in the feed (docs/contract/D §1.28). */
const ACTIONS = {
  approved: ['approved'],
  closed: ['closed'],
  commented: ['commented on'],
  created: ['created', 'opened'],
  destroyed: ['destroyed'],
  expired: ['removed due to membership expiration from'],
  joined: ['joined'],
  left: ['left'],
  merged: ['accepted', 'merged'],
  pushed: ['pushed to', 'pushed new', 'deleted'],
  reopened: ['reopened'],
  updated: ['updated'],
} as const

const TARGETS = {
  epic: ['Epic'],
  issue: ['Issue'],
  merge_request: ['MergeRequest'],
  milestone: ['Milestone'],
  note: ['Note', 'DiffNote', 'DiscussionNote'],
  project: ['Project'],
  snippet: ['Snippet'],
  user: ['User'],
} as const

const query = {
  action: oneOf(Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]).optional(), // keys of a literal
  target_type: oneOf(Object.keys(TARGETS) as (keyof typeof TARGETS)[]).optional(), // keys of a literal
  before: day().optional(),
  after: day().optional(),
  sort: oneOf(['asc', 'desc']).optional(),
}
type Query = z.infer<z.ZodObject<typeof query>>

async function list(
  ctx: Ctx,
  about: Pick<EventFilter, 'authorId' | 'projectId' | 'member'>,
  asked: Query,
  page: OffsetPage,
) {
  const filter: EventFilter = {
    ...about,
    actions: asked.action && ACTIONS[asked.action],
    targetTypes: asked.target_type && TARGETS[asked.target_type],
    // The days themselves are left out, on both sides.
    before: asked.before && `${asked.before}T00:00:00.000Z`,
    after: asked.after && `${asked.after}T23:59:59.999Z`,
    sort: asked.sort ?? 'desc',
  }
  const rows = await listEventRows(ctx.db, viewerOf(ctx), filter, page)
  return { ...rows, items: await presentEvents(ctx, rows.items) }
}

export const listOwnEvents = endpoint({
  method: 'GET',
  path: '/events',
  summary: 'List what the caller did, or with `scope=all` what happened in their projects',
  access: signedIn(),
  scopes: ['api', 'read_api', 'read_user'],
  query: { ...query, scope: oneOf(['all']).optional() },
  paginate: 'offset',
  response: z.array(eventEntity),
  handler: ({ ctx, query, page }) =>
    list(ctx, query.scope ? { member: true } : { authorId: callerId(ctx) }, query, page),
})

export const listUserEvents = endpoint({
  method: 'GET',
  path: '/users/:id/events',
  summary: 'List what a user did, as far as the caller may see it',
  access: anyone(),
  scopes: ['api', 'read_api', 'read_user'],
  params: { id: text({ max: 255 }) },
  query,
  paginate: 'offset',
  response: z.array(eventEntity),
  async handler({ ctx, params: { id }, query, page }) {
    const user = await getUser(ctx, id)
    if (!maySeeProfile(ctx, user)) return { items: [], total: 0 }
    return await list(ctx, { authorId: user.id }, query, page)
  },
})

export const listProjectEvents = endpoint({
  method: 'GET',
  path: '/projects/:id/events',
  summary: 'List what happened in a project',
  access: onProject('read_project'),
  query,
  paginate: 'offset',
  response: z.array(eventEntity),
  handler: ({ ctx, project, query, page }) => list(ctx, { projectId: project.id }, query, page),
})
