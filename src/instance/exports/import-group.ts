import { type Visibility, visibilityRank } from '../../access/roles.ts'
import { getVisibleGroup } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { createGroup } from '../../projects/groups/create-group.ts'
import { hideGroup } from '../../projects/groups/remove-group.ts'
import { knownGroupSettings } from '../../projects/groups/settings.ts'
import type { GroupRecord } from './archive-form.ts'
import { readGroupArchive } from './read-import.ts'
import { takePlanning } from './take-planning.ts'

type Entry = GroupRecord['groups'][number]

/** Makes the groups of an archive under a new name, as the caller's own. */
export async function importGroup(
  ctx: Ctx,
  path: string,
  top: { readonly name: string; readonly path: string; readonly parentId?: number | undefined },
): Promise<void> {
  const { groups } = await readGroupArchive(ctx, path).catch((error: unknown) => {
    throw error instanceof GitError ? badRequest(error.message) : error
  })
  const made = new Map<string, number>()
  try {
    for (const entry of groups) await makeGroup(ctx, made, entry, top)
  } catch (error) {
    // Half of a group is worth less than none, and would be in the way of the next attempt.
    const [first] = made.values()
    if (first !== undefined) await hideGroup(ctx, first)
    throw error
  }
}

/** Makes one group of an archive, and notes its id by its path below the first. */
async function makeGroup(
  ctx: Ctx,
  made: Map<string, number>,
  entry: Entry,
  top: { readonly name: string; readonly path: string; readonly parentId?: number | undefined },
): Promise<void> {
  const place =
    entry.relative_path === ''
      ? top
      : { name: entry.name, path: entry.path, parentId: madeAbove(made, entry.relative_path) }
  const id = await createGroup(ctx, {
    ...place,
    visibility: await lowered(ctx, entry.visibility, place.parentId),
    description: entry.description,
    settings: knownGroupSettings(entry.settings),
  })
  made.set(entry.relative_path.toLowerCase(), id)
  await takePlanning(ctx, { namespaceId: id }, entry)
}

/** The group that was made for `a/b` of `a/b/c`. */
function madeAbove(made: ReadonlyMap<string, number>, path: string): number {
  const id = made.get(path.slice(0, Math.max(0, path.lastIndexOf('/'))).toLowerCase())
  if (id === undefined) throw badRequest('the archive is not an export of this program')
  return id
}

/** No more visible than the group above. */
async function lowered(
  ctx: Ctx,
  wanted: Visibility,
  parentId: number | undefined,
): Promise<Visibility> {
  if (parentId === undefined) return wanted
  const { visibility } = await getVisibleGroup(ctx, String(parentId))
  return visibilityRank[wanted] <= visibilityRank[visibility] ? wanted : visibility
}
