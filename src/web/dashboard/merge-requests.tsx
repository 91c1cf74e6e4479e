import { call } from '../../http/call/call.ts'
import { integer, oneOf } from '../../http/params.ts'
import { listAllMergeRequests } from '../../review/merge-requests/endpoints.ts'
import { withQuery } from '../address.ts'
import { page } from '../page.ts'
import { Blank, Pages } from '../parts/basics.tsx'
import { WorkList } from '../parts/work-list.tsx'
import { Choices } from './choices.tsx'

const ADDRESS = '/dashboard/merge_requests'
const PER_PAGE = 20
const scopes = [
  ['reviews_for_me', 'Reviews for me'],
  ['created_by_me', 'Mine'],
  ['assigned_to_me', 'Assigned to me'],
] as const
const states = [
  ['opened', 'Open'],
  ['merged', 'Merged'],
  ['closed', 'Closed'],
  ['all', 'All'],
] as const

export const myMergeRequestsPage = page({
  address: ADDRESS,
  summary: 'My merge requests and reviews',
  signedIn: true,
  query: {
    scope: oneOf(['reviews_for_me', 'created_by_me', 'assigned_to_me']).default('reviews_for_me'),
    state: oneOf(['opened', 'merged', 'closed', 'all']).default('opened'),
    page: integer({ min: 1 }).default(1),
  },
  api: ({ query }) => withQuery('/merge_requests', query),
  async read(ctx, { query: { page, ...filters } }) {
    const query = { ...filters, order_by: 'updated_at', page, per_page: PER_PAGE }
    const found = await call(listAllMergeRequests, ctx, { path: {}, query })
    return { filters, page, found }
  },
  title: () => 'My merge requests · Gitstead',
  view: ({ filters: { scope, state }, page: number, found }) => (
    <div class="narrow stack">
      <h1>My merge requests</h1>
      <Choices
        label="Which"
        address={withQuery(ADDRESS, { state })}
        name="scope"
        options={scopes}
        current={scope}
      />
      <Choices
        label="State"
        address={withQuery(ADDRESS, { scope })}
        name="state"
        options={states}
        current={state}
      />
      {found.items.length === 0 && (
        <Blank icon="git-pull-request" title="No merge requests here">
          <p>Push a branch to a project, and open one from it.</p>
        </Blank>
      )}
      <WorkList kind="merge_request" of={found.items} />
      <Pages
        page={number}
        perPage={PER_PAGE}
        total={found.total}
        more={found.more}
        address={withQuery(ADDRESS, { scope, state })}
      />
    </div>
  ),
})
