import { actAs } from '../../access/act-as.ts'
import { findGroupById, findGroupByPath } from '../../access/find-queries.ts'
import { levelsUpTo, type Visibility } from '../../access/roles.ts'
import { type Group, getVisibleGroup } from '../../access/subjects.ts'
import { forbidden, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { createGroup } from '../../projects/groups/create-group.ts'
import { groupVisibilityFaults } from '../../projects/groups/faults.ts'
import { auditGroup } from '../../projects/groups/record.ts'
import { knownGroupSettings } from '../../projects/groups/settings.ts'
import { withinInstance } from '../../projects/namespaces/artifact-limit.ts'
import { asRestricted, sharedRunnersOf } from '../../projects/namespaces/shared-runners.ts'
import { inTransaction } from '../../store/transaction.ts'
import { isTaken } from '../../store/unique.ts'
import { type GroupEntry, groupAbove } from './archive-form.ts'
import { readGroupArchive } from './read-import.ts'
import { takePlanning } from './take-planning.ts'

/** Makes the groups of an archive below the first, which is there; those that an earlier run has made stay as they are. */
export async function fillGroup(
  given: Ctx,
  what: { readonly groupId: number; readonly userId: number; readonly file: string },
  signal: AbortSignal,
): Promise<void> {
  if (!(await findGroupById(given.db, what.groupId))) return
  try {
    const ctx = await actAs(given, what.userId)
    if (ctx.actor.kind !== 'user' || ctx.actor.user.state !== 'active') throw forbidden()
    const { groups } = await readGroupArchive(ctx, ctx.files.pathOf(what.file))
    await makeBelow(ctx, what.groupId, groups.slice(1), signal)
  } catch (error) {
    // A fault of ours is tried again; what is wrong with the archive or the importer's rights stays so.
    if (!(error instanceof GitError) && !(error instanceof Problem)) throw error
    await noteFailedGroups(given, what.groupId, error.message)
  }
}

/** Says on the audit trail of the first group why those below it are not all there; people may use what is. */
export async function noteFailedGroups(ctx: Ctx, groupId: number, reason: string): Promise<void> {
  await auditGroup(ctx, groupId, 'group_import_failed', { reason: reason.slice(0, 1000) })
}

async function makeBelow(
  ctx: Ctx,
  topId: number,
  entries: readonly GroupEntry[],
  signal: AbortSignal,
): Promise<void> {
  const made = new Map([['', topId]])
  for (const entry of entries) {
    signal.throwIfAborted()
    const path = entry.relative_path.toLowerCase()
    const parentId = made.get(groupAbove(path))
    const id = await inTransaction(ctx, async (ctx) => {
      const parent = await getVisibleGroup(ctx, String(parentId))
      const there = await findGroupByPath(ctx.db, `${parent.full_path}/${entry.path}`)
      return there?.id ?? (await makeGroup(ctx, entry, entry, parent))
    })
    made.set(path, id)
  }
}

/** Makes one group of an archive with its labels and milestones, in the caller's transaction. */
export async function makeGroup(
  ctx: Ctx,
  entry: GroupEntry,
  { name, path }: { readonly name: string; readonly path: string },
  parent: Group | null,
): Promise<number> {
  const id = await createGroup(ctx, {
    name,
    path,
    parentId: parent?.id,
    visibility: lowered(ctx, entry.visibility, parent),
    description: entry.description,
    settings: placedSettings(ctx, entry, parent),
  })
  await takePlanning(ctx, { namespaceId: id }, entry, unlessTaken)
  return id
}

/** What a group above has under the same title is there for this one too. */
async function unlessTaken(make: () => Promise<unknown>): Promise<void> {
  try {
    await make()
  } catch (error) {
    if (!isTaken(error)) throw error
  }
}

/** No looser on the runners of the instance than the group above. */
function placedSettings(ctx: Ctx, entry: GroupEntry, parent: Group | null) {
  const settings = withinInstance(ctx, knownGroupSettings(entry.settings))
  if (!parent) return settings
  const above = sharedRunnersOf(parent.settings)
  return { ...settings, shared_runners_setting: asRestricted(sharedRunnersOf(settings), above) }
}

/** No more visible than the group above and the instance allow. */
function lowered(ctx: Ctx, wanted: Visibility, parent: Group | null): Visibility {
  const allowed = levelsUpTo(wanted).find(
    (level) => groupVisibilityFaults(ctx, level, parent).length === 0,
  )
  return allowed ?? wanted
}
