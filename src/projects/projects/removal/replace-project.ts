import type { Project } from '../../../access/subjects.ts'
import { invalid } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { deleteRedirects, findTaken } from '../queries.ts'
import { updateProject } from '../update-project.ts'
import { hideProject } from './remove-project.ts'

/** 400 when a project other than the one to be replaced has the name. */
export async function assertNameFree(
  ctx: Ctx,
  place: { namespaceId: number; name: string; path: string; fullPath: string; except: number },
): Promise<void> {
  const taken = await findTaken(ctx.db, place)
  if (taken.name) throw invalid({ name: ['has already been taken'] })
}

/** Puts a project in the place of another, which goes; in the caller's transaction. */
export async function replaceProject(
  ctx: Ctx,
  project: Project,
  place: { readonly name: string; readonly path: string; readonly replacedId: number | undefined },
): Promise<void> {
  if (place.replacedId !== undefined) await hideProject(ctx, place.replacedId)
  await updateProject(ctx, project, { name: place.name, path: place.path })
  // Where it waited was never its address.
  await deleteRedirects(ctx.db, project.id)
}
