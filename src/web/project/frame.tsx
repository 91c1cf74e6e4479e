import type { ComponentChildren } from 'preact'
import { Problem } from '../../base/problem.ts'
import { call } from '../../http/call/call.ts'
import type { DataOf, Shape } from '../../http/endpoint.ts'
import type { PROJECT_SCOPES } from '../../instance/search/scopes.ts'
import { getProject } from '../../projects/projects/endpoints.ts'
import { pathOf } from '../address.ts'
import { type Given, type Page, type PageDeclaration, page } from '../page.ts'
import type { PageCtx } from '../page-ctx.ts'
import { Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { type ProjectTab, projectTabs, type Tab } from './tabs.ts'
import { VisibilityMark } from './visibility.tsx'

export type ProjectData = DataOf<typeof getProject>

type ProjectPage<P extends string, Q extends Shape | undefined, D> = Omit<
  PageDeclaration<P, Q, D>,
  'read' | 'title' | 'view' | 'api'
> & {
  /** The call of the API with the same data, below `/api/v4`; `project` is the path of the address. */
  api?(given: Given<P, Q> & { readonly project: string }, ctx: PageCtx): string | Promise<string>
  /** Below the project, such as `/-/commits/*ref`. */
  readonly address: P
  /** Which entry of the project's navigation is the current one. */
  readonly tab: ProjectTab
  read(ctx: PageCtx, given: Given<P, Q> & { readonly project: ProjectData }): Promise<D>
  /** What the page shows; where it is follows: ` · ana/demo`. */
  title(data: D, project: ProjectData): string
  view(data: D, project: ProjectData): ComponentChildren
}

/** A page of a project: found by its path, below its head and its navigation. */
export function projectPage<
  const P extends string,
  Q extends Shape | undefined = undefined,
  D = unknown,
>(declared: ProjectPage<P, Q, D>): Page {
  const { api } = declared
  return page({
    address: `/*project${declared.address}`,
    summary: declared.summary,
    ...(declared.query ? { query: declared.query as Shape } : {}),
    ...(declared.signedIn ? { signedIn: declared.signedIn } : {}),
    ...(api
      ? { api: (given: object, ctx: PageCtx) => api(given as Parameters<typeof api>[0], ctx) }
      : {}),
    async read(ctx, given) {
      const { project, tabs } = await readProjectFrame(
        ctx,
        (given as unknown as { readonly project: string }).project,
      )
      // The router and the query's schemas have read what the declaration names.
      const asked = { ...given, project } as unknown as Given<P, Q> & { project: ProjectData }
      return { project, tabs, data: await declared.read(ctx, asked) }
    },
    title: ({ data, project }) => {
      const what = declared.title(data, project)
      const where = project.path_with_namespace
      return what === '' ? where : `${what} · ${where}`
    },
    view: ({ project, tabs, data }) => (
      <ProjectFrame project={project} tabs={tabs} current={declared.tab}>
        {declared.view(data, project)}
      </ProjectFrame>
    ),
  })
}

/** The project of a page's address with what this person may open of it. An old path leads to the new one. */
export async function readProjectFrame(
  ctx: PageCtx,
  path: string,
): Promise<{ readonly project: ProjectData; readonly tabs: readonly Tab[] }> {
  const project = await call(getProject, ctx, { path: { id: path } }).catch(async (error) => {
    if (!(error instanceof Problem) || error.code !== 'moved') throw error
    const moved = await call(getProject, ctx, { path: { id: error.headers.Location ?? '' } })
    const Location = ctx.address.replace(pathOf(path), pathOf(moved.path_with_namespace))
    throw new Problem('moved', 301, '', { headers: { Location } })
  })
  return { project, tabs: await projectTabs(ctx, project.path_with_namespace) }
}

interface FrameProps {
  readonly project: ProjectData
  readonly tabs: readonly Tab[]
  readonly current: ProjectTab
  readonly children: ComponentChildren
}

export function ProjectFrame({ project, tabs, current, children }: FrameProps) {
  const path = project.path_with_namespace
  const parts = path.split('/')
  return (
    <>
      <div class="project-head">
        <span class="name">
          {parts.map((part, index) => (
            <>
              {index > 0 && <span class="quiet"> / </span>}
              <A href={pathOf(parts.slice(0, index + 1).join('/'))}>
                {index === parts.length - 1 ? <strong>{part}</strong> : part}
              </A>
            </>
          ))}
        </span>
        <VisibilityMark visibility={project.visibility} />
        {'archived' in project && project.archived && <span class="state waiting">archived</span>}
        <SearchHere project={project} tabs={tabs} current={current} />
      </div>
      <nav class="tabs project-tabs" aria-label="Project">
        {tabs.map(({ name, label, icon, href, key }) => (
          <A
            key={name}
            href={href}
            data-place={name}
            {...(key === undefined ? {} : { 'data-hotkey': key })}
            {...(name === current ? { 'aria-current': 'page' } : {})}
          >
            <Icon name={icon} /> {label}
          </A>
        ))}
      </nav>
      {children}
    </>
  )
}

type Scope = (typeof PROJECT_SCOPES)[number]

/** What is searched first: what the page is about, or else the code. */
const searched: Partial<Record<ProjectTab, Scope>> = {
  commits: 'commits',
  merge_requests: 'merge_requests',
}

/** A search within the project. Who may not read its code begins with its issues. */
function SearchHere({ project, tabs, current }: Omit<FrameProps, 'children'>) {
  const others: Scope = tabs.some(({ name }) => name === 'code') ? 'blobs' : 'issues'
  return (
    <Form action="/search" method="get" role="search" class="find-here" aria-label="This project">
      <input type="hidden" name="project_id" value={project.id} />
      <input type="hidden" name="scope" value={searched[current] ?? others} />
      <input
        type="search"
        name="search"
        placeholder="Search this project"
        aria-label="Search this project"
        data-hotkey="g s"
      />
    </Form>
  )
}
