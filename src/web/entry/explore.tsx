import { call } from '../../http/call/call.ts'
import { integer, oneOf, text } from '../../http/params.ts'
import { getProjects } from '../../projects/projects/endpoints.ts'
import { withQuery } from '../address.ts'
import { page } from '../page.ts'
import { Blank, Pages } from '../parts/basics.tsx'
import { Form } from '../parts/form.tsx'
import { ProjectList } from '../parts/project-list.tsx'
import { ExploreTabs } from './explore-tabs.tsx'

const PER_PAGE = 20
const orders = { last_activity_at: 'Last activity', star_count: 'Stars', name: 'Name' } as const
const orderNames = ['last_activity_at', 'star_count', 'name'] as const

/** Every project that the caller may see. */
export const explorePage = page({
  address: '/explore',
  summary: 'Explore projects',
  query: {
    name: text({ max: 300 }).optional(),
    topic: text({ max: 300 }).optional(),
    order_by: oneOf(orderNames).default('last_activity_at'),
    page: integer({ min: 1 }).default(1),
  },
  api: ({ query: { name, ...more } }) => withQuery('/projects', { search: name, ...more }),
  async read(ctx, { query }) {
    const filters = { name: query.name, topic: query.topic, order_by: query.order_by }
    const asked = {
      search: query.name,
      topic: query.topic,
      order_by: query.order_by,
      sort: query.order_by === 'name' ? 'asc' : 'desc',
      page: query.page,
      per_page: PER_PAGE,
    }
    const { items, total, more } = await call(getProjects, ctx, { path: {}, query: asked })
    return { filters, page: query.page, projects: items, total, more }
  },
  title: () => 'Explore projects · Gitstead',
  view: ({ filters, page: number, projects, total, more }) => (
    <div class="narrow stack">
      <ExploreTabs current="projects" />
      <div class="row between">
        <h1>Explore projects</h1>
        <Form action="/explore" method="get" role="search" class="row">
          <input
            type="search"
            name="name"
            value={filters.name ?? ''}
            placeholder="Name"
            aria-label="Name"
          />
          <select name="order_by" aria-label="Order">
            {orderNames.map((name) => (
              <option key={name} value={name} selected={name === filters.order_by}>
                {orders[name]}
              </option>
            ))}
          </select>
          <button type="submit" class="button">
            Search
          </button>
        </Form>
      </div>
      {projects.length === 0 && (
        <Blank icon="repo" title="No projects found">
          <p>Public projects are listed here, and those that you may see.</p>
        </Blank>
      )}
      <ProjectList projects={projects} />
      <Pages
        page={number}
        perPage={PER_PAGE}
        total={total}
        more={more}
        address={withQuery('/explore', filters)}
      />
    </div>
  ),
})
