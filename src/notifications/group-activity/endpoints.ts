import { z } from 'zod'
import { getVisibleGroup, signedIn } from '../../access/subjects.ts'
import { type Viewer, viewerOf } from '../../access/visible-queries.ts'
import { type Instant, later } from '../../base/clock.ts'
import { endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import type { Db } from '../../store/schema.ts'
import { readsActivity } from './access.ts'
import { countIssues, countMergeRequests, countNewMembers } from './queries.ts'

/** Counts look back this long, to the second (docs/contract/A-resolved §14). */
const WINDOW_MS = 90 * 86_400_000

type Count = (db: Db, groupId: number, since: Instant, viewer: Viewer) => Promise<number>

type Name = 'issues_count' | 'merge_requests_count' | 'new_members_count'

function counting(name: Name, summary: string, count: Count) {
  return endpoint({
    method: 'GET',
    path: `/analytics/group_activity/${name}`,
    summary,
    tags: ['group activity'],
    access: signedIn(),
    query: { group_path: text() },
    conditions: [readsActivity],
    response: z.strictObject({ [name]: z.int() }),
    async handler({ ctx, query }) {
      const group = await getVisibleGroup(ctx, query.group_path)
      const since = later(ctx.now(), -WINDOW_MS)
      return { [name]: await count(ctx.db, group.id, since, viewerOf(ctx)) }
    },
  })
}

export const getIssuesCount = counting(
  'issues_count',
  'Count the issues made in a group in the last 90 days',
  countIssues,
)

export const getMergeRequestsCount = counting(
  'merge_requests_count',
  'Count the merge requests made in a group in the last 90 days',
  countMergeRequests,
)

export const getNewMembersCount = counting(
  'new_members_count',
  'Count the members who joined a group in the last 90 days',
  countNewMembers,
)
