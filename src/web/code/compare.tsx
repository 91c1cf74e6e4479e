import { Problem } from '../../base/problem.ts'
import { call } from '../../http/call/call.ts'
import { id, oneOf, text } from '../../http/params.ts'
import { compareRefs } from '../../repositories/compare/endpoints.ts'
import { apiPath, pathOf, withQuery } from '../address.ts'
import { Blank, counted } from '../parts/basics.tsx'
import { CommitLine } from '../parts/commit-line.tsx'
import { Diff } from '../parts/diff.tsx'
import { LayoutLinks } from '../parts/diff-tree.tsx'
import { Form } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'
import { type ProjectData, projectPage } from '../project/frame.tsx'
import { placeAddress } from './place.ts'

/** What one branch, tag or commit has that another lacks: `main...feature`. */
export const comparePage = projectPage({
  address: '/-/compare/*range',
  summary: 'Compare two branches, tags or commits',
  tab: 'branches',
  query: {
    view: oneOf(['unified', 'split']).default('unified'),
    /** The project that `from` is a branch of, where it is another one of the fork network. */
    from_project_id: id().optional(),
  },
  api: ({ project, range, query: { from_project_id } }) => {
    const { from, to, straight } = sidesOf(range)
    const address = apiPath(project, 'repository', 'compare')
    return withQuery(address, { from, to, straight, from_project_id })
  },
  async read(ctx, { project, range, query }) {
    const { from, to, straight } = sidesOf(range)
    const { from_project_id } = query
    const asked = { from, to, straight, from_project_id }
    const compared = await call(compareRefs, ctx, { path: { id: project.id }, query: asked })
    return { from, to, range, compared, view: query.view, from_project_id }
  },
  title: ({ range }) => `Compare ${range}`,
  view: ({ from, to, range, compared, view, from_project_id }, project) => {
    const path = project.path_with_namespace
    const address = withQuery(pathOf(path, '-', 'compare', range), { from_project_id })
    const request = withQuery(pathOf(path, '-', 'merge_requests', 'new'), {
      'merge_request[source_branch]': to,
      'merge_request[target_branch]': from,
    })
    return (
      <div class="stack">
        <h1>Compare</h1>
        <Form action={pathOf(path, '-', 'compare')} method="get" class="row">
          <FromProject id={from_project_id} />
          <input type="text" name="from" value={from} aria-label="From" required />
          <span aria-hidden="true">…</span>
          <input type="text" name="to" value={to} aria-label="To" required />
          <button type="submit" class="button">
            Compare
          </button>
          <A class="button primary" href={request}>
            New merge request
          </A>
        </Form>
        {from_project_id === undefined && <WithParent project={project} to={to} />}
        {compared.commits.length === 0 && (
          <Blank icon="git-compare" title="There is nothing to compare" />
        )}
        <section class="box" hidden={compared.commits.length === 0}>
          <h2 class="box-head">{counted(compared.commits.length, 'commit')}</h2>
          <ul class="list padded">
            {[...compared.commits].reverse().map((commit) => (
              <li key={commit.id}>
                <CommitLine project={path} commit={commit} />
              </li>
            ))}
          </ul>
        </section>
        <LayoutLinks layout={view} address={(view) => withQuery(address, { view })} />
        <Diff
          files={compared.diffs}
          layout={view}
          fileAddress={(file) => placeAddress(project, 'blob', { ref: to, path: file.new_path })}
        />
      </div>
    )
  },
})

/** `main...feature` is what was done since they parted, `main..feature` how the two differ. */
function sidesOf(range: string) {
  const [, from, dots, to] = /^(.+?)(\.{2,3})(.+)$/.exec(range) ?? []
  if (from === undefined || to === undefined) {
    throw new Problem('not_found', 404, { message: '404 Not Found' })
  }
  return { from, to, straight: dots === '..' }
}

/** Where the fields of the form above lead: to the address of the comparison. */
export const compareStart = projectPage({
  address: '/-/compare',
  summary: 'Choose what to compare',
  tab: 'branches',
  query: {
    from: text({ max: 300 }).optional(),
    to: text({ max: 300 }).optional(),
    from_project_id: id().optional(),
  },
  async read(_ctx, { project, query }) {
    if (query.from && query.to) {
      const range = `${query.from}...${query.to}`
      const path = pathOf(project.path_with_namespace, '-', 'compare', range)
      const Location = withQuery(path, { from_project_id: query.from_project_id })
      throw new Problem('moved', 302, '', { headers: { Location } })
    }
    const { from_project_id } = query
    return { from: query.from ?? project.default_branch ?? '', to: query.to ?? '', from_project_id }
  },
  title: () => 'Compare',
  view: ({ from, to, from_project_id }, project) => (
    <div class="stack">
      <h1>Compare</h1>
      <Form action={pathOf(project.path_with_namespace, '-', 'compare')} method="get" class="row">
        <FromProject id={from_project_id} />
        <input
          type="text"
          name="from"
          value={from}
          aria-label="From"
          placeholder="Branch, tag or commit"
          required
        />
        <span aria-hidden="true">…</span>
        <input
          type="text"
          name="to"
          value={to}
          aria-label="To"
          placeholder="Branch, tag or commit"
          required
        />
        <button type="submit" class="button">
          Compare
        </button>
      </Form>
      <p class="quiet">
        What the second has that the first does not: its commits and their changes.
      </p>
    </div>
  ),
})

function FromProject({ id }: { id: number | undefined }) {
  return id === undefined ? null : <input type="hidden" name="from_project_id" value={id} />
}

/** From the project that this one is a fork of. */
function WithParent({ project, to }: { project: ProjectData; to: string }) {
  const parent = 'forked_from_project' in project ? project.forked_from_project : undefined
  if (!parent?.default_branch) return null
  const range = `${parent.default_branch}...${to}`
  const address = pathOf(project.path_with_namespace, '-', 'compare', range)
  return (
    <p>
      <A href={withQuery(address, { from_project_id: parent.id })}>
        Compare with {parent.path_with_namespace}
      </A>
    </p>
  )
}
