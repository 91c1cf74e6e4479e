import { call, may } from '../../../http/call/call.ts'
import { getProject } from '../../../projects/projects/endpoints.ts'
import { createRepositoryCommit } from '../../../repositories/commits/write-endpoints.ts'
import { getForks, postFork } from '../../../repositories/forks/endpoints.ts'
import type { PageCtx } from '../../page-ctx.ts'
import type { ProjectData } from '../../project/frame.tsx'

/** Where changes of this person go: into the project, or into a fork of their own. */
export async function editsWhere(
  ctx: PageCtx,
  project: Pick<ProjectData, 'id'>,
): Promise<'project' | 'fork' | 'nowhere'> {
  const path = { id: project.id }
  if (ctx.actor.kind !== 'user') return 'nowhere'
  if (await may(createRepositoryCommit, ctx, { path })) return 'project'
  return (await may(postFork, ctx, { path })) ? 'fork' : 'nowhere'
}

/** The fork of the caller; the first change makes it. */
export async function ownFork(ctx: PageCtx, project: ProjectData): Promise<ProjectData> {
  const path = { id: project.id }
  const { items } = await call(getForks, ctx, { path, query: { owned: true, per_page: 20 } })
  for (const { id } of items) {
    if (!(await may(createRepositoryCommit, ctx, { path: { id } }))) continue
    return await call(getProject, ctx, { path: { id } })
  }
  const { id } = await call(postFork, ctx, { path, body: {} })
  return await call(getProject, ctx, { path: { id } })
}
