import { z } from 'zod'
import { getVisibleGroup, signedIn } from '../../access/subjects.ts'
import { type Viewer, viewerOf } from '../../access/visible-queries.ts'
import { type Instant, later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { readsActivity } from './access.ts'
import { countIssues, countMergeRequests, countNewMembers } from './queries.ts'

const query = { group_path: text() } as const

/** Counts look back this long, to the second (docs/contract/A-resolved §14). */
const WINDOW_MS = 90 * 86_400_000

interface Asked {
  readonly groupId: number
  readonly viewer: Viewer
  readonly since: Instant
}

async function ask(ctx: Ctx, path: string): Promise<Asked> {
  const group = await getVisibleGroup(ctx, path)
  return {
    groupId: group.id,
    viewer: viewerOf(ctx),
    since: later(ctx.now(), -WINDOW_MS),
  }
}

export const getIssuesCount = endpoint({
  method: 'GET',
  path: '/analytics/group_activity/issues_count',
  summary: 'Count the issues made in a group in the last 90 days',
  access: signedIn(),
  query,
  conditions: [readsActivity],
  response: z.strictObject({ issues_count: z.int() }),
  async handler({ ctx, query }) {
    const { groupId, viewer, since } = await ask(ctx, query.group_path)
    return { issues_count: await countIssues(ctx.db, viewer, groupId, since) }
  },
})

export const getMergeRequestsCount = endpoint({
  method: 'GET',
  path: '/analytics/group_activity/merge_requests_count',
  summary: 'Count the merge requests made in a group in the last 90 days',
  access: signedIn(),
  query,
  conditions: [readsActivity],
  response: z.strictObject({ merge_requests_count: z.int() }),
  async handler({ ctx, query }) {
    const { groupId, viewer, since } = await ask(ctx, query.group_path)
    return { merge_requests_count: await countMergeRequests(ctx.db, viewer, groupId, since) }
  },
})

export const getNewMembersCount = endpoint({
  method: 'GET',
  path: '/analytics/group_activity/new_members_count',
  summary: 'Count the members who joined a group in the last 90 days',
  access: signedIn(),
  query,
  conditions: [readsActivity],
  response: z.strictObject({ new_members_count: z.int() }),
  async handler({ ctx, query }) {
    const { groupId, since } = await ask(ctx, query.group_path)
    return { new_members_count: await countNewMembers(ctx.db, groupId, since) }
  },
})
