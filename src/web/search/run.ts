import { Problem } from '../../base/problem.ts'
import { call } from '../../http/call/call.ts'
import type { DataOf } from '../../http/endpoint.ts'
import { searchGroup, searchInstance, searchProject } from '../../instance/search/endpoints.ts'
import {
  GROUP_SCOPES,
  INSTANCE_SCOPES,
  PROJECT_SCOPES,
  type SearchScope,
} from '../../instance/search/scopes.ts'
import { getGroup, getGroups } from '../../projects/groups/endpoints.ts'
import { getProject } from '../../projects/projects/endpoints.ts'
import type { PageCtx } from '../page-ctx.ts'
import { readProjectPaths } from '../project-paths.ts'

export type FoundPage = DataOf<typeof searchInstance>
export type Found = FoundPage['items'][number]

/** Where is searched: everywhere, in a group and what is below it, or in a project. */
export type SearchedPlace =
  | { readonly kind: 'all' }
  | { readonly kind: 'group'; readonly id: number; readonly path: string }
  | { readonly kind: 'project'; readonly id: number; readonly path: string }

/** Scopes whose number of finds the database counts; what git has to look for is not counted ahead. */
const counted: ReadonlySet<string> = new Set([
  'projects',
  'issues',
  'merge_requests',
  'milestones',
  'users',
])

export async function readPlace(
  ctx: PageCtx,
  asked: { readonly project_id?: string | undefined; readonly group_id?: string | undefined },
): Promise<SearchedPlace> {
  if (asked.project_id) {
    const project = await call(getProject, ctx, { path: { id: asked.project_id } })
    return { kind: 'project', id: project.id, path: project.path_with_namespace }
  }
  if (asked.group_id) {
    const query = { with_projects: false }
    const group = await call(getGroup, ctx, { path: { id: asked.group_id }, query })
    return { kind: 'group', id: group.id, path: group.full_path }
  }
  return { kind: 'all' }
}

export function scopesOf({ kind }: SearchedPlace): readonly SearchScope[] {
  if (kind === 'project') return PROJECT_SCOPES
  return kind === 'group' ? GROUP_SCOPES : INSTANCE_SCOPES
}

interface Asked {
  readonly scope: SearchScope
  readonly search: string
  readonly page: number
  readonly per_page: number
}

export function findIn(ctx: PageCtx, place: SearchedPlace, query: Asked): Promise<FoundPage> {
  if (place.kind === 'project') {
    return call(searchProject, ctx, { path: { id: place.id }, query })
  }
  if (place.kind === 'group') return call(searchGroup, ctx, { path: { id: place.id }, query })
  return call(searchInstance, ctx, { path: {}, query })
}

/** How much there is in the scopes that are cheap to count, but for the one that is shown. */
export async function countOthers(
  ctx: PageCtx,
  place: SearchedPlace,
  { scope: shown, search }: Pick<Asked, 'scope' | 'search'>,
): Promise<ReadonlyMap<string, number>> {
  const others = scopesOf(place).filter((scope) => scope !== shown && counted.has(scope))
  const counts = await Promise.all(
    others.map(async (scope) => {
      try {
        const { total } = await findIn(ctx, place, { scope, search, page: 1, per_page: 1 })
        return [scope, total] as const
      } catch (error) {
        // A scope that is not open to this person is not counted for them.
        if (error instanceof Problem) return [scope, undefined] as const
        throw error
      }
    }),
  )
  return new Map(counts.flatMap(([scope, total]) => (total === undefined ? [] : [[scope, total]])))
}

/** The paths of the projects in which something was found that names its project by number alone. */
export async function pathsOfProjects(
  ctx: PageCtx,
  place: SearchedPlace,
  found: readonly Found[],
): Promise<ReadonlyMap<number, string>> {
  if (place.kind === 'project') return new Map([[place.id, place.path]])
  return await readProjectPaths(
    ctx,
    found.map((one) => ('basename' in one || 'noteable_type' in one ? one.project_id : null)),
  )
}

/** Groups by their name; the API searches them by their own list. */
export async function findGroups(ctx: PageCtx, search: string, page: number, per_page: number) {
  return await call(getGroups, ctx, { path: {}, query: { search, page, per_page } })
}
