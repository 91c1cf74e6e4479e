import { may } from '../../http/call/call.ts'
import type { TypedEndpoint } from '../../http/endpoint.ts'
import { getTree } from '../../repositories/repository/endpoints.ts'
import { listProjectMergeRequests } from '../../review/merge-requests/endpoints.ts'
import { pathOf } from '../address.ts'
import type { PageCtx } from '../page-ctx.ts'
import type { IconName } from '../parts/icon-names.ts'

/** The entries of a project's navigation. */
export type ProjectTab = 'overview' | 'code' | 'commits' | 'branches' | 'tags' | 'merge_requests'

export interface Tab {
  readonly name: ProjectTab
  readonly label: string
  readonly icon: IconName
  readonly href: string
  readonly key?: string
}

interface Entry extends Omit<Tab, 'href'> {
  /** Below the project. */
  readonly at: string
  /** Who may call it sees the entry. */
  readonly needs?: TypedEndpoint<'id', unknown, unknown, unknown>
}

/** In the order in which people see them. */
const entries: readonly Entry[] = [
  { name: 'overview', label: 'Overview', icon: 'repo', at: '', key: 'g p' },
  { name: 'code', label: 'Files', icon: 'code', at: '/-/tree', key: 'g f', needs: getTree },
  {
    name: 'commits',
    label: 'Commits',
    icon: 'git-commit',
    at: '/-/commits',
    key: 'g c',
    needs: getTree,
  },
  { name: 'branches', label: 'Branches', icon: 'git-branch', at: '/-/branches', needs: getTree },
  { name: 'tags', label: 'Tags', icon: 'tag', at: '/-/tags', needs: getTree },
  {
    name: 'merge_requests',
    label: 'Merge requests',
    icon: 'git-pull-request',
    at: '/-/merge_requests',
    key: 'g m',
    needs: listProjectMergeRequests,
  },
]

/** What this person may open of the project. */
export async function projectTabs(ctx: PageCtx, project: string): Promise<readonly Tab[]> {
  const shown: Tab[] = []
  for (const { at, needs, ...tab } of entries) {
    if (needs && !(await may(needs, ctx, { path: { id: project } }))) continue
    shown.push({ ...tab, href: pathOf(project) + at })
  }
  return shown
}
