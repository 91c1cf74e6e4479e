import { onProject } from '../../access/subjects.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { getMergeRequest } from '../../review/merge-requests/find.ts'
import { watchedRequests } from '../../review/merge-requests/live/queries.ts'
import { liveEvents } from '../live-events.ts'
import { partsOf } from './live-parts.ts'

export const mergeRequestEvents = endpoint({
  method: 'GET',
  host: true,
  session: 'only',
  path: '/*id/-/merge_requests/:iid/events',
  summary: 'What changes of a merge request while its page is open, by server-sent events',
  access: onProject('read_merge_requests'),
  params: { iid: id() },
  query: { seen: text({ max: 100 }).optional() },
  response: bytes('text/event-stream'),
  async handler({ ctx, project, params, query: { seen }, request }) {
    const { id } = await getMergeRequest(ctx, project, params.iid)
    return liveEvents(ctx, request, { watched: watchedRequests, key: id, seen, partsOf })
  },
})
