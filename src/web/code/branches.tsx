import { call, may } from '../../http/call/call.ts'
import { integer, oneOf, text } from '../../http/params.ts'
import {
  createRepositoryBranch,
  deleteMergedRepositoryBranches,
  deleteRepositoryBranch,
  listRepositoryBranches,
} from '../../repositories/branches/endpoints.ts'
import { listDivergence } from '../../repositories/history/endpoints.ts'
import { apiPath, pathOf, withQuery } from '../address.ts'
import { form } from '../form.ts'
import { Blank, Pages, Time } from '../parts/basics.tsx'
import { ButtonForm, Field, Form, RefusalNote } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { projectPage } from '../project/frame.tsx'
import { placeAddress } from './place.ts'

const PER_PAGE = 50

const query = {
  search: text({ max: 300 }).optional(),
  sort: oneOf(['name_asc', 'updated_asc', 'updated_desc']).default('updated_desc'),
  page: integer({ min: 1 }).default(1),
  /** Active ones were committed to within three months. */
  show: oneOf(['all', 'active', 'stale', 'merged']).default('all'),
}

export const branchesPage = projectPage({
  address: '/-/branches',
  summary: 'Branches of a repository',
  tab: 'branches',
  query,
  api: ({ project, query: { show, ...filters } }, ctx) =>
    withQuery(apiPath(project, 'repository', 'branches'), {
      ...filters,
      ...filterOf(show, ctx.now()),
    }),
  async read(ctx, { project, query }) {
    const path = { id: project.id }
    const { show, ...filters } = query
    const asked = { ...filters, ...filterOf(show, ctx.now()), per_page: PER_PAGE }
    const [branches, mayCreate] = await Promise.all([
      call(listRepositoryBranches, ctx, { path, query: asked }),
      may(createRepositoryBranch, ctx, { path }),
    ])
    const refs = branches.items.map(({ name }) => name)
    const base = project.default_branch ?? undefined
    const compared = { base, refs }
    const [apart, mayDelete] = await Promise.all([
      refs.length > 0 && base ? call(listDivergence, ctx, { path, query: compared }) : [],
      may(deleteMergedRepositoryBranches, ctx, { path }),
    ])
    return {
      branches,
      apart: new Map(apart.map((one) => [one.ref, one])),
      mayDelete,
      query,
      mayCreate,
    }
  },
  title: () => 'Branches',
  view: ({ branches: { items: branches, total }, query, apart, mayCreate, mayDelete }, project) => {
    const { search, sort, show, page } = query
    const address = pathOf(project.path_with_namespace, '-', 'branches')
    return (
      <div class="stack narrow">
        <div class="row between">
          <h1>Branches</h1>
          <Form action={address} method="get" role="search" class="row">
            <input
              type="search"
              name="search"
              value={search ?? ''}
              placeholder="Name"
              aria-label="Name of a branch"
            />
            <select name="sort" aria-label="Order">
              {orders.map(([value, label]) => (
                <option key={value} value={value} selected={value === sort}>
                  {label}
                </option>
              ))}
            </select>
            <input type="hidden" name="show" value={show} />
            <button type="submit" class="button">
              Search
            </button>
          </Form>
        </div>
        <RefusalNote />
        <div class="row between">
          <nav class="row" aria-label="Which branches">
            {(['all', 'active', 'stale', 'merged'] as const).map((one) => (
              <A
                key={one}
                class="button"
                href={withQuery(address, { search, sort, show: one })}
                aria-current={one === show ? 'true' : undefined}
              >
                {one[0]?.toUpperCase()}
                {one.slice(1)}
              </A>
            ))}
          </nav>
          {mayDelete && (
            <ButtonForm
              action={`${address}/delete_merged`}
              kind="danger"
              label="Delete merged branches"
              confirm="Delete every branch that is merged into the default branch and not protected?"
            />
          )}
        </div>
        {branches.length === 0 && <Blank icon="git-branch" title="No branches found" />}
        <ul class="list">
          {branches.map((branch) => (
            <li key={branch.name}>
              <div class="main">
                <A
                  class="title mono"
                  href={placeAddress(project, 'tree', { ref: branch.name, path: '' })}
                >
                  <Icon name="git-branch" /> {branch.name}
                </A>{' '}
                {branch.default && <span class="label">default</span>}{' '}
                {branch.protected && <span class="label">protected</span>}{' '}
                {branch.merged && <span class="state merged">merged</span>}
                <p class="facts">
                  {branch.commit.title} · {branch.commit.author_name}{' '}
                  <Time at={branch.commit.committed_date} />
                </p>
              </div>
              {!branch.default && <Divergence of={apart.get(branch.name)} />}
              {!branch.default && (
                <A
                  class="button"
                  href={pathOf(
                    project.path_with_namespace,
                    '-',
                    'compare',
                    `${project.default_branch}...${branch.name}`,
                  )}
                >
                  Compare
                </A>
              )}
              {branch.can_push && !branch.default && !branch.protected && (
                <ButtonForm
                  action={`${address}/delete`}
                  fields={{ branch: branch.name }}
                  kind="danger"
                  label="Delete"
                  confirm={`Delete the branch ${branch.name}? Commits that are on no other branch are lost.`}
                />
              )}
            </li>
          ))}
        </ul>
        <Pages
          page={page}
          perPage={PER_PAGE}
          total={total}
          address={withQuery(address, { search, sort, show })}
        />
        {mayCreate && (
          <section class="box">
            <h2 class="box-head">New branch</h2>
            <Form action={address} class="form box-body">
              <Field name="branch" label="Name" input={{ required: true }} />
              <Field
                name="ref"
                label="From"
                value={project.default_branch ?? ''}
                hint="A branch, tag or commit"
              />
              <button type="submit" class="button primary">
                Create the branch
              </button>
            </Form>
          </section>
        )}
      </div>
    )
  },
})

export const createBranchForm = form({
  address: '/*project/-/branches',
  summary: 'Create a branch',
  endpoint: createRepositoryBranch,
  page: branchesPage,
  input: ({ path, fields }) => ({
    path: { id: path.project },
    body: { branch: fields.branch, ref: fields.ref },
  }),
  flash: ({ name }) => `The branch ${name} was created.`,
})

export const deleteBranchForm = form({
  address: '/*project/-/branches/delete',
  summary: 'Delete a branch',
  endpoint: deleteRepositoryBranch,
  input: ({ path, fields }) => ({ path: { id: path.project, branch: String(fields.branch) } }),
  flash: 'The branch was deleted.',
})

export const deleteMergedForm = form({
  address: '/*project/-/branches/delete_merged',
  summary: 'Delete the branches that are merged into the default branch',
  endpoint: deleteMergedRepositoryBranches,
  input: ({ path }) => ({ path: { id: path.project } }),
  flash: 'The merged branches are being deleted.',
})

/** A branch that nobody committed to for longer is stale. */
const ACTIVE_DAYS = 90

/** What the list is asked for; the limit is that of a whole hour, so that the same is asked for a while. */
function filterOf(show: 'all' | 'active' | 'stale' | 'merged', now: string) {
  if (show === 'all') return {}
  if (show === 'merged') return { merged: true }
  const limit = new Date(Date.parse(now) - ACTIVE_DAYS * 24 * 3600 * 1000)
  limit.setUTCMinutes(0, 0, 0)
  const time = limit.toISOString()
  return show === 'active' ? { updated_after: time } : { updated_before: time }
}

const orders = [
  ['updated_desc', 'Newest first'],
  ['updated_asc', 'Oldest first'],
  ['name_asc', 'By name'],
] as const

/** How far a branch is from the default one; both bars end at the most that they can show. */
function Divergence({ of }: { of: { ahead: number; behind: number } | undefined }) {
  if (!of) return null
  return (
    <span class="divergence" title={`${of.behind} behind, ${of.ahead} ahead of the default branch`}>
      <span class="behind">
        {of.behind}
        <span class="visually-hidden"> behind</span>
      </span>
      <span class="ahead">
        {of.ahead}
        <span class="visually-hidden"> ahead</span>
      </span>
      <meter class="reversed" min={0} max={50} value={of.behind} aria-hidden={true} />
      <meter min={0} max={50} value={of.ahead} aria-hidden={true} />
    </span>
  )
}
