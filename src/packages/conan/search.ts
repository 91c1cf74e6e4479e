import type { Project } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { getRecipe } from './files.ts'
import type { ConanInfo } from './info.ts'
import { listInfos, searchRecipes } from './queries.ts'
import type { Recipe } from './reference.ts'

const MOST_FOUND = 500
const MOST_INFOS = { files: 5000, bytes: 8 * 1024 * 1024 }

/** Recipes by a name in which `*` stands for anything. */
export async function findRecipes(
  ctx: Ctx,
  project: Project | undefined,
  query: { readonly q?: string | undefined; readonly ignorecase?: boolean | undefined },
): Promise<{ results: string[] }> {
  const { q = '', ignorecase = true } = query
  if (q === '' || q === '*') return { results: [] }
  if (q.length > 200 || q.split('*').length > 6) throw badRequest('the search is too long')
  // Brackets and question marks are plain text to clients.
  const glob = q.replaceAll(/[[?]/g, (sign) => `[${sign}]`)
  const place = project && { projectId: project.id }
  return { results: await searchRecipes(ctx, place, { glob, ignoreCase: ignorecase }, MOST_FOUND) }
}

/** The packages of a recipe, or of one of its revisions, by their ids. */
export async function readPackageInfos(
  ctx: Ctx,
  project: Project,
  recipe: Recipe,
  rrev?: string,
): Promise<Record<string, ConanInfo>> {
  const row = await getRecipe(ctx, project, recipe)
  const rows = await listInfos(ctx.db, row.id, MOST_INFOS, rrev)
  return Object.fromEntries(
    rows.flatMap(({ pid, metadata }) => {
      const { info } = JSON.parse(metadata ?? '{}') as { info?: ConanInfo } // written by the upload
      return pid && info ? [[pid, info]] : []
    }),
  )
}
