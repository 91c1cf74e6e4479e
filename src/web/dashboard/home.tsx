import type { ComponentChildren } from 'preact'
import { listTodos } from '../../discussions/todos/endpoints.ts'
import { call } from '../../http/call/call.ts'
import { listIssues } from '../../planning/issues/endpoints.ts'
import { getProjects } from '../../projects/projects/endpoints.ts'
import { listAllMergeRequests } from '../../review/merge-requests/endpoints.ts'
import { page } from '../page.ts'
import type { PageCtx } from '../page-ctx.ts'
import { Blank } from '../parts/basics.tsx'
import { A } from '../parts/link.tsx'
import { ProjectList } from '../parts/project-list.tsx'
import { WorkList } from '../parts/work-list.tsx'
import { readStarred } from './projects.tsx'
import { TodoList } from './todo-list.tsx'

const MOST = 6

function readRequests(ctx: PageCtx, scope: 'reviews_for_me' | 'created_by_me') {
  const query = { scope, state: 'opened', order_by: 'updated_at', per_page: MOST }
  return call(listAllMergeRequests, ctx, { path: {}, query })
}

/** Where everybody comes in: what waits for a person, and what is theirs. */
export const home = page({
  address: '/',
  summary: 'Home',
  signedIn: true,
  async read(ctx) {
    const path = {}
    const recent = { order_by: 'last_activity_at', per_page: 10 }
    const issues = { scope: 'assigned_to_me', state: 'opened', order_by: 'updated_at' }
    const [todos, failed, reviews, mine, assigned, projects, starred] = await Promise.all([
      call(listTodos, ctx, { path, query: { per_page: MOST } }),
      call(listTodos, ctx, { path, query: { action: 'build_failed', per_page: MOST } }),
      readRequests(ctx, 'reviews_for_me'),
      readRequests(ctx, 'created_by_me'),
      call(listIssues, ctx, { path, query: { ...issues, per_page: MOST } }),
      call(getProjects, ctx, { path, query: { membership: true, ...recent } }),
      readStarred(ctx),
    ])
    return { todos, failed, reviews, mine, assigned, projects: projects.items, starred }
  },
  title: () => 'Home · Gitstead',
  view: ({ todos, failed, reviews, mine, assigned, projects, starred }) => (
    <div class="narrow home">
      <h1 class="visually-hidden">Home</h1>
      <div class="stack">
        <Part title="To-dos" all="/dashboard/todos" of={todos} none="Nothing waits for you">
          <TodoList todos={todos.items} />
        </Part>
        <Part
          title="Reviews for me"
          all="/dashboard/merge_requests?scope=reviews_for_me"
          of={reviews}
          none="Nobody waits for your review"
        >
          <WorkList kind="merge_request" of={reviews.items} />
        </Part>
        {failed.items.length > 0 && (
          <Part title="Failed pipelines of mine" all="/dashboard/todos" of={failed} none="">
            <TodoList todos={failed.items} />
          </Part>
        )}
        <Part
          title="My merge requests"
          all="/dashboard/merge_requests?scope=created_by_me"
          of={mine}
          none="You have no open merge requests"
        >
          <WorkList kind="merge_request" of={mine.items} />
        </Part>
        <Part
          title="Issues assigned to me"
          all="/dashboard/issues"
          of={assigned}
          none="No open issue is assigned to you"
        >
          <WorkList kind="issue" of={assigned.items} />
        </Part>
      </div>
      <section class="stack tight">
        <div class="row between">
          <h2>My projects</h2>
          <A href="/dashboard/projects">All</A>
        </div>
        {projects.length === 0 && (
          <Blank icon="repo" title="You have no projects yet">
            <A class="button primary" href="/projects/new">
              New project
            </A>
          </Blank>
        )}
        <ProjectList projects={projects} starred={starred} />
      </section>
    </div>
  ),
})

function Part({
  title,
  all,
  of,
  none,
  children,
}: {
  title: string
  all: string
  of: { readonly items: readonly unknown[]; readonly total?: number | undefined }
  none: string
  children: ComponentChildren
}) {
  const isEmpty = of.items.length === 0
  return (
    <section class="stack tight">
      <div class="row between">
        <h2>
          {title} {!isEmpty && <span class="count">{of.total ?? of.items.length}</span>}
        </h2>
        {!isEmpty && (
          <A href={all} aria-label={`All: ${title}`}>
            All
          </A>
        )}
      </div>
      {isEmpty ? <p class="quiet">{none}</p> : children}
    </section>
  )
}
