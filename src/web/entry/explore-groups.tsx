import { call } from '../../http/call/call.ts'
import { integer, text } from '../../http/params.ts'
import { getGroups } from '../../projects/groups/endpoints.ts'
import { withQuery } from '../address.ts'
import { page } from '../page.ts'
import { Blank, Pages } from '../parts/basics.tsx'
import { Form } from '../parts/form.tsx'
import { GroupList } from '../parts/group-list.tsx'
import { ExploreTabs } from './explore-tabs.tsx'

const ADDRESS = '/explore/groups'
const PER_PAGE = 20

/** Every group that the caller may see. */
export const exploreGroupsPage = page({
  address: ADDRESS,
  summary: 'Explore groups',
  query: { name: text({ max: 300 }).optional(), page: integer({ min: 1 }).default(1) },
  api: ({ query: { name, page } }) => withQuery('/groups', { search: name, page }),
  async read(ctx, { query: { name, page } }) {
    const query = { search: name, page, per_page: PER_PAGE }
    return { name, page, found: await call(getGroups, ctx, { path: {}, query }) }
  },
  title: () => 'Explore groups · Gitstead',
  view: ({ name, page: number, found }) => (
    <div class="narrow stack">
      <ExploreTabs current="groups" />
      <div class="row between">
        <h1>Explore groups</h1>
        <Form action={ADDRESS} method="get" role="search" class="row">
          <input
            type="search"
            name="name"
            value={name ?? ''}
            placeholder="Name"
            aria-label="Name"
          />
          <button type="submit" class="button">
            Search
          </button>
        </Form>
      </div>
      {found.items.length === 0 && <Blank icon="organization" title="No groups found" />}
      <GroupList groups={found.items} />
      <Pages
        page={number}
        perPage={PER_PAGE}
        total={found.total}
        more={found.more}
        address={withQuery(ADDRESS, { name })}
      />
    </div>
  ),
})
