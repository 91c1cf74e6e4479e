import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { actAs } from '../../access/act-as.ts'
import { findProjectByPath } from '../../access/find-queries.ts'
import { getVisibleProject, withProjectRole } from '../../access/subjects.ts'
import { badRequest, forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { getTargetNamespace } from '../../projects/projects/create/access.ts'
import { assertNameFree, replaceProject } from '../../projects/projects/removal/replace-project.ts'
import { mayReplace } from './access.ts'

/** The place of the project that an import replaces once it has succeeded. */
export const replacedPlace = z.object({
  namespace_id: z.int(),
  name: z.string(),
  path: z.string(),
})

export type ReplacedPlace = z.infer<typeof replacedPlace>

/** The place that an import with `overwrite` takes in the end; undefined when nothing is there. */
export async function findReplaced(
  ctx: Ctx,
  wanted: {
    readonly name: string
    readonly path: string
    readonly namespace: number | string | undefined
  },
): Promise<ReplacedPlace | undefined> {
  const namespace = await getTargetNamespace(ctx, wanted.namespace)
  const name = wanted.name.trim()
  const fullPath = `${namespace.fullPath}/${wanted.path}`
  const except = await findReplaceable(ctx, fullPath)
  if (except === undefined) return undefined
  await assertNameFree(ctx, {
    namespaceId: namespace.id,
    name,
    path: wanted.path,
    fullPath,
    except,
  })
  return { namespace_id: namespace.id, name, path: wanted.path }
}

/** Name and path until the import has succeeded, which nobody has by chance. */
export function untilThen({ name, path }: ReplacedPlace): {
  name: string
  path: string
} {
  const mark = randomBytes(8).toString('hex')
  return { name: `${name}-${mark}`, path: `${path}-${mark}` }
}

/**
 * Removes the project that is at the place and puts the imported one there, in the caller's transaction. Whoever imports
 * must still be allowed to. One that was moved elsewhere meanwhile stays where it was put.
 */
export async function takePlace(
  given: Ctx,
  projectId: number,
  place: ReplacedPlace,
): Promise<void> {
  const { creator_id: importerId } = await getVisibleProject(given, String(projectId))
  const ctx = await actAs(given, importerId)
  if (ctx.actor.kind !== 'user' || ctx.actor.user.state !== 'active') throw forbidden()
  const project = await getVisibleProject(ctx, String(projectId))
  if (project.namespace_id !== place.namespace_id) return
  const { name, path } = place
  const replacedId = await findReplaceable(ctx, `${project.namespace_full_path}/${path}`)
  await replaceProject(ctx, project, { name, path, replacedId })
}

/** The id of the project at a path, which the caller must be allowed to delete; undefined when none is there. */
async function findReplaceable(ctx: Ctx, fullPath: string): Promise<number | undefined> {
  const row = await findProjectByPath(ctx.db, fullPath)
  if (!row) return undefined
  if (!mayReplace(ctx, await withProjectRole(ctx, row))) {
    throw badRequest('Project namespace path can be in use by another project')
  }
  return row.id
}
