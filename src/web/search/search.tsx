import { integer, text } from '../../http/params.ts'
import type { SearchScope } from '../../instance/search/scopes.ts'
import { pathOf, withQuery } from '../address.ts'
import { page } from '../page.ts'
import { Blank, Pages } from '../parts/basics.tsx'
import { Form } from '../parts/form.tsx'
import { GroupList } from '../parts/group-list.tsx'
import { A } from '../parts/link.tsx'
import { Finds } from './finds.tsx'
import { countOthers, findGroups, findIn, pathsOfProjects, readPlace, scopesOf } from './run.ts'

const ADDRESS = '/search'
const PER_PAGE = 20

const labels: Readonly<Record<SearchScope | 'groups', string>> = {
  projects: 'Projects',
  groups: 'Groups',
  issues: 'Issues',
  merge_requests: 'Merge requests',
  milestones: 'Milestones',
  users: 'People',
  snippet_titles: 'Snippets',
  notes: 'Comments',
  commits: 'Commits',
  blobs: 'Code',
  wiki_blobs: 'Wikis',
}

/** Everything that the caller may see, by words; in a project or group also its code. */
export const searchPage = page({
  address: ADDRESS,
  summary: 'Search',
  query: {
    search: text({ max: 1000 }).default(''),
    scope: text({ max: 50 }).optional(),
    project_id: text({ max: 300 }).optional(),
    group_id: text({ max: 300 }).optional(),
    page: integer({ min: 1 }).default(1),
  },
  api: ({ query: { search, scope = 'projects', project_id: project, group_id: group } }) => {
    const place = project
      ? `/projects/${encodeURIComponent(project)}`
      : group
        ? `/groups/${encodeURIComponent(group)}`
        : ''
    return withQuery(`${place}/search`, { scope, search })
  },
  async read(ctx, { query: { page, scope: asked, search, ...where } }) {
    const place = await readPlace(ctx, where)
    const known = scopesOf(place)
    const words = search.trim()
    const given = { words, page, place, where }
    if (asked === 'groups' && place.kind === 'all') {
      const groups = words === '' ? undefined : await findGroups(ctx, words, page, PER_PAGE)
      return { ...given, scope: 'groups' as const, scopes: known, groups, counts: new Map() }
    }
    const scope = known.find((one) => one === asked) ?? known[0] ?? 'projects'
    if (words === '') return { ...given, scope, scopes: known, counts: new Map() }
    const [found, counts] = await Promise.all([
      findIn(ctx, place, { scope, search: words, page, per_page: PER_PAGE }),
      countOthers(ctx, place, { scope, search: words }),
    ])
    const paths = await pathsOfProjects(ctx, place, found.items)
    return { ...given, scope, scopes: known, found, paths, counts }
  },
  title: ({ words }) => `${words === '' ? '' : `${words} · `}Search · Gitstead`,
  view: (data) => {
    const { words, place, where, scope, scopes, counts, page: number } = data
    const address = withQuery(ADDRESS, { ...where, search: words })
    const result = 'groups' in data ? data.groups : 'found' in data ? data.found : undefined
    return (
      <div class="narrow stack">
        <h1>Search</h1>
        <Form action={ADDRESS} method="get" role="search" class="row wide">
          <input type="hidden" name="scope" value={scope} />
          {place.kind === 'project' && <input type="hidden" name="project_id" value={place.id} />}
          {place.kind === 'group' && <input type="hidden" name="group_id" value={place.id} />}
          <input
            type="search"
            name="search"
            value={words}
            aria-label="Words"
            autofocus={words === ''}
          />
          <button type="submit" class="button primary">
            Search
          </button>
        </Form>
        {place.kind !== 'all' && (
          <p>
            In <A href={pathOf(place.path)}>{place.path}</A> ·{' '}
            <A href={withQuery(ADDRESS, { search: words })}>Search everywhere</A>
          </p>
        )}
        <nav class="tabs" aria-label="What to search for">
          {(place.kind === 'all'
            ? (['projects', 'groups', ...scopes.slice(1)] as const)
            : scopes
          ).map((one) => (
            <A
              key={one}
              href={withQuery(address, { scope: one })}
              {...(one === scope ? { 'aria-current': 'page' } : {})}
            >
              {labels[one]} <Count of={one === scope ? result?.total : counts.get(one)} />
            </A>
          ))}
        </nav>
        {result === undefined && <p class="quiet">Type what you look for.</p>}
        {result?.items.length === 0 && (
          <Blank icon="search" title="Nothing was found">
            <p>Try fewer words, or another kind of thing above.</p>
          </Blank>
        )}
        {'groups' in data && data.groups && <GroupList groups={data.groups.items} />}
        {'found' in data && (
          <Finds scope={data.scope} found={data.found.items} paths={data.paths} />
        )}
        {result && (
          <Pages
            page={number}
            perPage={PER_PAGE}
            total={result.total}
            more={result.more}
            address={withQuery(address, { scope })}
          />
        )}
      </div>
    )
  },
})

function Count({ of }: { of: number | undefined }) {
  return of === undefined ? null : <span class="count">{of.toLocaleString('en')}</span>
}
