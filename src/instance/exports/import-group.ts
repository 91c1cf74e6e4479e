import { levelsUpTo, type Visibility } from '../../access/roles.ts'
import { getVisibleGroup } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { createGroup } from '../../projects/groups/create-group.ts'
import { groupVisibilityFaults } from '../../projects/groups/faults.ts'
import { hideGroup } from '../../projects/groups/remove-group.ts'
import { knownGroupSettings } from '../../projects/groups/settings.ts'
import { asRestricted, sharedRunnersOf } from '../../projects/namespaces/shared-runners.ts'
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
    settings: await placedSettings(ctx, entry, place.parentId),
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

/** No looser on the runners of the instance than the group above. */
async function placedSettings(ctx: Ctx, entry: Entry, parentId: number | undefined) {
  const settings = knownGroupSettings(entry.settings)
  if (parentId === undefined) return settings
  const above = sharedRunnersOf((await getVisibleGroup(ctx, String(parentId))).settings)
  return { ...settings, shared_runners_setting: asRestricted(sharedRunnersOf(settings), above) }
}

/** No more visible than the group above and the instance allow. */
async function lowered(
  ctx: Ctx,
  wanted: Visibility,
  parentId: number | undefined,
): Promise<Visibility> {
  const parent = parentId === undefined ? null : await getVisibleGroup(ctx, String(parentId))
  const allowed = levelsUpTo(wanted).find(
    (level) => groupVisibilityFaults(ctx, level, parent).length === 0,
  )
  return allowed ?? wanted
}
