import { call } from '../../http/call/call.ts'
import type { DataOf } from '../../http/endpoint.ts'
import { integer, text } from '../../http/params.ts'
import { listRepositoryCommits } from '../../repositories/commits/endpoints.ts'
import { apiPath, withQuery } from '../address.ts'
import { Blank, Pages } from '../parts/basics.tsx'
import { CommitLine } from '../parts/commit-line.tsx'
import { Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { isEmpty } from '../project/clone-box.tsx'
import { type ProjectData, projectPage } from '../project/frame.tsx'
import { GraphGap, GraphRow } from './graph/graph.tsx'
import { lanesOf, widthOf } from './graph/lanes.ts'
import { PathLine } from './path-line.tsx'
import { type Place, placeAddress, placeFor, placeOf } from './place.ts'

const PER_PAGE = 40

const query = {
  search: text({ max: 300 }).optional(),
  author: text({ max: 300 }).optional(),
  since: text({ max: 40 }).optional(),
  until: text({ max: 40 }).optional(),
  page: integer({ min: 1 }).default(1),
}

/** The history of a branch, a tag, or of one file across its renames. */
export const commitPages = (['/-/commits', '/-/commits/*ref_path'] as const).map((address) =>
  projectPage({
    address,
    summary: 'Commits of a repository',
    tab: 'commits',
    query,
    async api({ project, query, ...given }, ctx) {
      const refPath = 'ref_path' in given ? String(given.ref_path) : undefined
      const { ref, path } = await placeFor(ctx, project, refPath)
      const asked = { ref_name: ref, path, follow: path === '' ? undefined : true, ...query }
      return withQuery(apiPath(project, 'repository', 'commits'), asked)
    },
    async read(ctx, { project, query, ...given }) {
      const refPath = 'ref_path' in given ? String(given.ref_path) : undefined
      const place = await placeOf(ctx, project, refPath)
      const filters = {
        search: query.search,
        author: query.author,
        since: query.since,
        until: query.until,
      }
      const asked = {
        ref_name: place.ref,
        path: place.path === '' ? undefined : place.path,
        follow: place.path === '' ? undefined : true,
        ...filters,
        page: query.page,
        per_page: PER_PAGE,
      }
      const { items, more } = await call(listRepositoryCommits, ctx, {
        path: { id: project.id },
        query: asked,
      })
      return {
        place,
        filters,
        page: query.page,
        commits: items,
        more: more ?? items.length === PER_PAGE,
      }
    },
    title: ({ place }) => `Commits of ${place.path === '' ? place.ref : place.path}`,
    view: ({ place, filters, page, commits, more }, project) => {
      const address = placeAddress(project, 'commits', place)
      return (
        <div class="stack">
          <div class="row between">
            <PathLine project={project} place={place} />
            <Form action={address} method="get" role="search" class="row">
              <input
                type="search"
                name="search"
                value={filters.search ?? ''}
                placeholder="Message"
                aria-label="Words of the message"
              />
              <input
                type="text"
                name="author"
                value={filters.author ?? ''}
                placeholder="Author"
                aria-label="Author"
              />
              <label>
                Since <input type="date" name="since" value={filters.since ?? ''} />
              </label>
              <label>
                until <input type="date" name="until" value={filters.until ?? ''} />
              </label>
              <button type="submit" class="button">
                Search
              </button>
            </Form>
          </div>
          <h1 class="visually-hidden">Commits</h1>
          {!isEmpty(project) && (
            <p>
              <A href={placeAddress(project, 'graphs', { ref: place.ref, path: '' })}>
                <Icon name="graph" /> Contributors
              </A>
            </p>
          )}
          {isEmpty(project) && <p class="note">This repository is empty.</p>}
          {commits.length === 0 && !isEmpty(project) && (
            <Blank icon="git-commit" title="No commits found">
              <p>Only commits of {place.ref} are searched.</p>
            </Blank>
          )}
          {isWhole(place, filters) ? (
            <History project={project} commits={commits} />
          ) : (
            byDay(commits).map(([day, those]) => (
              <section key={day} class="box">
                <h2 class="box-head day">{day}</h2>
                <ul class="list padded">
                  {those.map((commit) => (
                    <li key={commit.id}>
                      <CommitLine project={project.path_with_namespace} commit={commit} />
                    </li>
                  ))}
                </ul>
              </section>
            ))
          )}
          <Pages page={page} perPage={PER_PAGE} more={more} address={withQuery(address, filters)} />
        </div>
      )
    },
  }),
)

/** Whether every commit of the ref is listed, so that lines between them mean something. */
function isWhole(place: Place, filters: Readonly<Record<string, string | undefined>>): boolean {
  return place.path === '' && Object.values(filters).every((value) => !value)
}

interface HistoryProps {
  readonly project: ProjectData
  readonly commits: DataOf<typeof listRepositoryCommits>['items']
}

/** Commits with the graph of their branches, which goes on between the days. */
function History({ project, commits }: HistoryProps) {
  const rows = lanesOf(commits)
  const lanes = widthOf(rows)
  const dayAt = (index: number) => commits[index]?.committed_date.slice(0, 10)
  if (commits.length === 0) return null
  return (
    <ul class="box history">
      {commits.flatMap((commit, index) => {
        const row = rows[index]
        const day = dayAt(index)
        return [
          day !== dayAt(index - 1) && (
            <li key={`${day} ${index}`} class="day">
              <GraphGap lanes={lanes} through={rows[index - 1]?.below ?? []} />
              <h2 class="box-head day">{day}</h2>
            </li>
          ),
          <li key={commit.id}>
            {row && <GraphRow lanes={lanes} row={row} />}
            <CommitLine project={project.path_with_namespace} commit={commit} />
          </li>,
        ]
      })}
    </ul>
  )
}

/** Commits in the order of the list, by the day that they were committed on. */
function byDay<T extends { readonly committed_date: string }>(
  commits: readonly T[],
): [string, T[]][] {
  const days = new Map<string, T[]>()
  for (const commit of commits) {
    const day = commit.committed_date.slice(0, 10)
    days.set(day, [...(days.get(day) ?? []), commit])
  }
  return [...days]
}
