import { call } from '../../http/call/call.ts'
import { integer, text } from '../../http/params.ts'
import { getGroup } from '../../projects/groups/endpoints.ts'
import { listAllMembers } from '../../projects/members/endpoints.ts'
import { levelName } from '../../projects/members/rules.ts'
import { pathOf, withQuery } from '../address.ts'
import { page } from '../page.ts'
import { Blank, Pages, PersonLink, Time } from '../parts/basics.tsx'
import { Form } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'

const PER_PAGE = 40

/** Who belongs to a group, inherited and invited members too. */
export const groupMembersPage = page({
  address: '/groups/*path/-/group_members',
  summary: 'The members of a group',
  query: { name: text({ max: 300 }).optional(), page: integer({ min: 1 }).default(1) },
  api: ({ path }) => `/groups/${encodeURIComponent(path)}/members/all`,
  async read(ctx, { path: id, query: { name, page } }) {
    const group = await call(getGroup, ctx, { path: { id }, query: { with_projects: false } })
    const found = await call(listAllMembers, ctx, {
      path: { source: 'groups', id: group.id },
      query: { query: name === '' ? undefined : name, page, per_page: PER_PAGE },
    })
    return { group, name, page, found }
  },
  title: ({ group }) => `Members · ${group.full_name} · Gitstead`,
  view: ({ group, name, page: number, found }) => {
    const address = pathOf('groups', group.full_path, '-', 'group_members')
    return (
      <div class="narrow stack">
        <p>
          <A href={pathOf(group.full_path)}>{group.full_name}</A>
        </p>
        <div class="row between">
          <h1>Members</h1>
          <Form action={address} method="get" role="search" class="row">
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
        {found.items.length === 0 && <Blank icon="people" title="No members found" />}
        <ul class="list">
          {found.items.map((one) => (
            <li key={one.id}>
              <div class="main">
                <PersonLink of={one} /> <span class="quiet">@{one.username}</span>
              </div>
              <span class="facts">
                {levelName(one.access_level)} · since <Time at={one.created_at} />
                {one.expires_at !== null && ` · until ${one.expires_at}`}
              </span>
            </li>
          ))}
        </ul>
        <Pages
          page={number}
          perPage={PER_PAGE}
          total={found.total}
          more={found.more}
          address={withQuery(address, { name })}
        />
      </div>
    )
  },
})
