import { Problem } from '../../base/problem.ts'
import { call } from '../../http/call/call.ts'
import { getProject } from '../../projects/projects/endpoints.ts'
import { splitRefPath } from '../../repositories/repository/split-ref-path.ts'
import { listRepositoryTags } from '../../repositories/tags/endpoints.ts'
import { pathOf } from '../address.ts'
import type { PageCtx } from '../page-ctx.ts'
import type { ProjectData } from '../project/frame.tsx'

/** A ref and a path in a repository, as the address of a page names them. */
export interface Place {
  readonly ref: string
  readonly path: string
}

/** The place that an address names; without one the default branch. Whether it may be read is for the endpoints to say. */
export async function placeOf(
  ctx: PageCtx,
  project: ProjectData,
  refPath: string | undefined,
): Promise<Place> {
  if (refPath !== undefined && refPath !== '') {
    return await splitRefPath(ctx.git.open(project.id), refPath.replace(/\/$/, ''))
  }
  const ref = project.default_branch
  if (!ref) throw new Problem('not_found', 404, { message: '404 Not Found' })
  return { ref, path: '' }
}

/**
 * The place that an address names, for who only knows the project's path. Which names are branches is for those who may
 * read the code to know.
 */
export async function placeFor(
  ctx: PageCtx,
  projectPath: string,
  refPath: string | undefined,
): Promise<Place> {
  const project = await call(getProject, ctx, { path: { id: projectPath } })
  // Refuses as the API does.
  await call(listRepositoryTags, ctx, { path: { id: project.id }, query: { per_page: 1 } })
  return await placeOf(ctx, project, refPath)
}

/** The address of a view of a place: `tree`, `blob`, `raw`, `blame`, `commits`, `edit`. */
export function placeAddress(
  project: Pick<ProjectData, 'path_with_namespace'>,
  view: string,
  { ref, path }: Place,
): string {
  return pathOf(project.path_with_namespace, '-', view, ref, ...(path === '' ? [] : [path]))
}
