import { call } from '../../http/call/call.ts'
import { integer, oneOf, text } from '../../http/params.ts'
import { getProjects } from '../../projects/projects/endpoints.ts'
import { withQuery } from '../address.ts'
import { page } from '../page.ts'
import type { PageCtx } from '../page-ctx.ts'
import { Blank, Pages } from '../parts/basics.tsx'
import { Form } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'
import { ProjectList } from '../parts/project-list.tsx'
import { Choices } from './choices.tsx'

const ADDRESS = '/dashboard/projects'
const PER_PAGE = 20
const which = [
  ['mine', 'Mine'],
  ['starred', 'Starred'],
] as const

/** The ids of the projects that the caller has starred. */
export async function readStarred(ctx: PageCtx): Promise<ReadonlySet<number>> {
  const query = { starred: true, simple: true, per_page: 100 }
  const { items } = await call(getProjects, ctx, { path: {}, query })
  return new Set(items.map(({ id }) => id))
}

export const myProjectsPage = page({
  address: ADDRESS,
  summary: 'My projects',
  signedIn: true,
  query: {
    which: oneOf(['mine', 'starred']).default('mine'),
    name: text({ max: 300 }).optional(),
    page: integer({ min: 1 }).default(1),
  },
  api: ({ query: { which, name } }) =>
    withQuery('/projects', {
      [which === 'mine' ? 'membership' : 'starred']: true,
      search: name,
    }),
  async read(ctx, { query: { which, name, page } }) {
    const whose = which === 'mine' ? { membership: true } : { starred: true }
    const asked = { ...whose, search: name, order_by: 'last_activity_at' }
    const [found, starred] = await Promise.all([
      call(getProjects, ctx, { path: {}, query: { ...asked, page, per_page: PER_PAGE } }),
      readStarred(ctx),
    ])
    return { filters: { which, name }, page, found, starred }
  },
  title: () => 'My projects · Gitstead',
  view: ({ filters, page: number, found, starred }) => (
    <div class="narrow stack">
      <div class="row between">
        <h1>My projects</h1>
        <A class="button primary" href="/projects/new">
          New project
        </A>
      </div>
      <Choices
        label="Which"
        address={ADDRESS}
        name="which"
        options={which}
        current={filters.which}
      />
      <Form action={ADDRESS} method="get" role="search" class="row">
        <input type="hidden" name="which" value={filters.which} />
        <input
          type="search"
          name="name"
          value={filters.name ?? ''}
          placeholder="Name"
          aria-label="Name"
        />
        <button type="submit" class="button">
          Search
        </button>
      </Form>
      {found.items.length === 0 && <Blank icon="repo" title="No projects here" />}
      <ProjectList projects={found.items} starred={starred} />
      <Pages
        page={number}
        perPage={PER_PAGE}
        total={found.total}
        more={found.more}
        address={withQuery(ADDRESS, filters)}
      />
    </div>
  ),
})
