import { call } from '../../http/call/call.ts'
import { integer, oneOf } from '../../http/params.ts'
import { listIssues } from '../../planning/issues/endpoints.ts'
import { withQuery } from '../address.ts'
import { page } from '../page.ts'
import { Blank, Pages } from '../parts/basics.tsx'
import { WorkList } from '../parts/work-list.tsx'
import { Choices } from './choices.tsx'

const ADDRESS = '/dashboard/issues'
const PER_PAGE = 20
const scopes = [
  ['assigned_to_me', 'Assigned to me'],
  ['created_by_me', 'Mine'],
] as const
const states = [
  ['opened', 'Open'],
  ['closed', 'Closed'],
  ['all', 'All'],
] as const

export const myIssuesPage = page({
  address: ADDRESS,
  summary: 'My issues',
  signedIn: true,
  query: {
    scope: oneOf(['assigned_to_me', 'created_by_me']).default('assigned_to_me'),
    state: oneOf(['opened', 'closed', 'all']).default('opened'),
    page: integer({ min: 1 }).default(1),
  },
  api: ({ query }) => withQuery('/issues', query),
  async read(ctx, { query: { page, ...filters } }) {
    const query = { ...filters, order_by: 'updated_at', page, per_page: PER_PAGE }
    const found = await call(listIssues, ctx, { path: {}, query })
    return { filters, page, found }
  },
  title: () => 'My issues · Gitstead',
  view: ({ filters: { scope, state }, page: number, found }) => (
    <div class="narrow stack">
      <h1>My issues</h1>
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
      {found.items.length === 0 && <Blank icon="issue-opened" title="No issues here" />}
      <WorkList kind="issue" of={found.items} />
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
