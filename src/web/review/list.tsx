import { call, may } from '../../http/call/call.ts'
import { integer, oneOf, text } from '../../http/params.ts'
import {
  createProjectMergeRequest,
  listProjectMergeRequests,
} from '../../review/merge-requests/endpoints.ts'
import { pathOf, withQuery } from '../address.ts'
import { Blank, counted, Pages, PersonLink, Time } from '../parts/basics.tsx'
import { Form } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'
import { projectPage } from '../project/frame.tsx'
import { RequestState } from './state.tsx'

const PER_PAGE = 20

const states = [
  ['opened', 'Open'],
  ['merged', 'Merged'],
  ['closed', 'Closed'],
  ['all', 'All'],
] as const

const query = {
  state: oneOf(['opened', 'closed', 'locked', 'merged', 'all']).default('opened'),
  search: text({ max: 1000 }).optional(),
  author_username: text({ max: 300 }).optional(),
  reviewer_username: text({ max: 300 }).optional(),
  assignee_username: text({ max: 300 }).optional(),
  labels: text({ max: 1000 }).optional(),
  wip: oneOf(['', 'yes', 'no']).optional(),
  approved: oneOf(['', 'yes', 'no']).optional(),
  milestone: text({ max: 300 }).optional(),
  source_branch: text({ max: 1024 }).optional(),
  target_branch: text({ max: 1024 }).optional(),
  order_by: oneOf(['created_at', 'updated_at', 'title']).default('created_at'),
  sort: oneOf(['asc', 'desc']).default('desc'),
  page: integer({ min: 1 }).default(1),
}

const words = [
  ['search', 'Words'],
  ['author_username', 'Author'],
  ['reviewer_username', 'Reviewer'],
  ['assignee_username', 'Assignee'],
  ['labels', 'Labels'],
  ['milestone', 'Milestone'],
  ['source_branch', 'From branch'],
  ['target_branch', 'Into branch'],
] as const

const choices = {
  wip: { label: 'Drafts', of: { '': 'Drafts and ready', no: 'Ready', yes: 'Drafts' } },
  approved: {
    label: 'Approved',
    of: { '': 'Approved or not', yes: 'Approved', no: 'Not approved' },
  },
  order_by: {
    label: 'Order by',
    of: { created_at: 'Opened', updated_at: 'Changed', title: 'Title' },
  },
  sort: { label: 'Direction', of: { desc: 'Descending', asc: 'Ascending' } },
} as const

type ChoiceName = keyof typeof choices

const choiceNames = ['wip', 'approved', 'order_by', 'sort'] as const

function Choice({ name, value }: { name: ChoiceName; value: string | undefined }) {
  const { label, of } = choices[name]
  return (
    <select name={name} aria-label={label}>
      {Object.entries(of).map(([word, text]) => (
        <option key={word} value={word} selected={word === (value ?? '')}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** Whether something is asked for beside the state and the order, which are there always. */
function isFiltered(filters: Readonly<Record<string, unknown>>): boolean {
  const { state: _state, order_by: _order, sort: _sort, ...asked } = filters
  return Object.values(asked).some((value) => value !== undefined && value !== '')
}

/** The merge requests of a project, with the filters of the API in the address. */
export const mergeRequestsPage = projectPage({
  address: '/-/merge_requests',
  summary: 'Merge requests of a project',
  tab: 'merge_requests',
  query,
  api: ({ project, query }) =>
    withQuery(`/projects/${encodeURIComponent(project)}/merge_requests`, query),
  async read(ctx, { project, query: { page, ...given } }) {
    const path = { id: project.id }
    // An empty field of the form asks for nothing.
    const filters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
    const [found, mayOpen] = await Promise.all([
      call(listProjectMergeRequests, ctx, {
        path,
        query: { ...filters, page, per_page: PER_PAGE },
      }),
      may(createProjectMergeRequest, ctx, { path }),
    ])
    return { found, filters: given, page, mayOpen }
  },
  title: () => 'Merge requests',
  view: ({ found, filters, page, mayOpen }, project) => {
    const address = pathOf(project.path_with_namespace, '-', 'merge_requests')
    return (
      <div class="stack narrow">
        <div class="row between">
          <h1>Merge requests</h1>
          {mayOpen && (
            <A class="button primary" href={`${address}/new`} data-hotkey="c">
              New merge request
            </A>
          )}
        </div>
        <nav class="tabs" aria-label="State">
          {states.map(([state, label]) => (
            <A
              key={state}
              href={withQuery(address, { ...filters, state })}
              {...(state === filters.state ? { 'aria-current': 'page' } : {})}
            >
              {label}
            </A>
          ))}
        </nav>
        <details class="filters-box" open={isFiltered(filters)}>
          <summary>Search and filter</summary>
          <Form action={address} method="get" role="search" class="filters">
            <input type="hidden" name="state" value={filters.state} />
            {words.map(([name, label]) => (
              <input
                key={name}
                type="search"
                name={name}
                value={filters[name] ?? ''}
                placeholder={label}
                aria-label={label}
              />
            ))}
            {choiceNames.map((name) => (
              <Choice key={name} name={name} value={filters[name]} />
            ))}
            <button type="submit" class="button">
              Search
            </button>
          </Form>
        </details>
        {found.items.length === 0 && (
          <Blank icon="git-pull-request" title="No merge requests found">
            {isFiltered(filters) && (
              <A href={withQuery(address, { state: filters.state })}>Without filters</A>
            )}
          </Blank>
        )}
        <ul class="list">
          {found.items.map((one) => (
            <li key={one.iid}>
              <RequestState state={one.state} draft={'draft' in one && one.draft} />
              <div class="main">
                <A class="title" href={`${address}/${one.iid}`}>
                  {one.title}
                </A>
                <p class="facts">
                  !{one.iid} opened <Time at={one.created_at} />
                  {'author' in one && (
                    <>
                      {' by '}
                      {one.author && <PersonLink of={one.author} />} · {one.source_branch} →{' '}
                      {one.target_branch} · {counted(one.user_notes_count, 'comment')}
                    </>
                  )}
                </p>
              </div>
            </li>
          ))}
        </ul>
        <Pages
          page={page}
          perPage={PER_PAGE}
          total={found.total}
          more={found.more}
          address={withQuery(address, filters)}
        />
      </div>
    )
  },
})
