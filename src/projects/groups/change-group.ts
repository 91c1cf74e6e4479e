import { type Visibility, visibilityRank } from '../../access/roles.ts'
import { type Group, getVisibleGroup } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { groupNameFaults, groupPathFaults } from '../../base/path-rules.ts'
import { refuseFaults } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Avatar } from '../../identity/users/avatar/sent-avatar.ts'
import { inTransaction } from '../../store/transaction.ts'
import { taken, uniquely } from '../../store/unique.ts'
import { sharedRunnersOf } from '../namespaces/shared-runners.ts'
import { followNamespacePath } from '../projects/below.ts'
import { type GroupFields, groupDescriptionFaults, placeBelow } from './create-group.ts'
import { groupVisibilityFaults } from './faults.ts'
import { findParent, type GroupChange, updateGroupRow } from './queries.ts'
import { auditGroup } from './record.ts'
import { followSharedRunners, sharedRunnersFaults } from './shared-runners.ts'
import { listVisibilitiesBelow, moveBelow, type Place } from './tree-queries.ts'

/** What an update changes; absent parts stay as they are. */
interface GroupUpdate extends GroupFields {
  readonly name?: string | undefined
  readonly path?: string | undefined
  /** Null removes it. */
  readonly avatar?: Avatar | null | undefined
}

/** Changes a group; the paths and names of all below follow its own. */
export async function changeGroup(ctx: Ctx, groupId: number, update: GroupUpdate): Promise<void> {
  await uniquely({ 'routes.path': () => taken('path') }, () =>
    inTransaction(ctx, async (ctx) => {
      // Read inside: what lies below is moved from where the group is now, whoever moved it a moment ago.
      const group = await getVisibleGroup(ctx, String(groupId))
      const parent = (await findParent(ctx.db, group.id)) ?? null
      await assertValid(ctx, group, update, parent)
      const { name = group.name, path = group.path } = update
      const to = placeBelow(parent, { name, path })
      const change = changesOf(ctx, group, update)
      await updateGroupRow(ctx.db, group.id, change)
      await auditGroup(ctx, group.id, 'group_changed', {
        path: to.fullPath,
        visibility: update.visibility ?? group.visibility,
        ...(change.settings === undefined ? {} : { settings: change.settings }),
      })
      const runners = sharedRunnersOf({ ...group.settings, ...update.settings })
      await followSharedRunners(ctx, group.id, sharedRunnersOf(group.settings), runners)
      await moveAlong(ctx, group, { fullPath: group.full_path, fullName: group.full_name }, to)
    }),
  )
}

function changesOf(ctx: Ctx, group: Group, update: GroupUpdate): GroupChange {
  return {
    name: update.name ?? group.name,
    path: update.path ?? group.path,
    updated_at: ctx.now(),
    ...update.columns,
    description: update.description === null ? '' : update.description,
    visibility: update.visibility,
    ...(update.avatar === undefined ? {} : (update.avatar ?? noAvatar)),
    ...(update.settings
      ? { settings: JSON.stringify({ ...group.settings, ...update.settings }) }
      : {}),
  }
}

async function moveAlong(ctx: Ctx, group: Group, from: Place, to: Place): Promise<void> {
  if (from.fullPath === to.fullPath && from.fullName === to.fullName) return
  await moveBelow(ctx.db, group.id, from, to)
  await followNamespacePath(ctx, group.id, from.fullPath, to.fullPath)
  if (from.fullPath === to.fullPath) return
  await runEffects(ctx, ctx.effects.groupChanged, { id: group.id, change: 'rename', old: group })
}

const noAvatar = { avatar_file: null, avatar_name: null } as const

async function assertValid(
  ctx: Ctx,
  group: Group,
  update: GroupUpdate,
  parent: { readonly visibility: Visibility; readonly settings: string } | null,
): Promise<void> {
  const { name, path, visibility } = update
  const changes = visibility !== undefined && visibility !== group.visibility
  const runners = update.settings?.shared_runners_setting
  refuseFaults({
    name: name === undefined ? [] : groupNameFaults(name),
    path: path === undefined || path === group.path ? [] : groupPathFaults(path, parent === null),
    description: groupDescriptionFaults(update.description),
    visibility_level: changes
      ? [
          ...groupVisibilityFaults(ctx, visibility, parent),
          ...(await childFaults(ctx, group.id, visibility)),
        ]
      : [],
    shared_runners_setting:
      runners === undefined
        ? []
        : sharedRunnersFaults(
            sharedRunnersOf(update.settings ?? {}),
            parent ? sharedRunnersOf(JSON.parse(parent.settings)) : undefined,
          ),
  })
}

/** Lowering a group is refused while something below is more visible (docs/contract/D §1.2 Rules). */
async function childFaults(ctx: Ctx, groupId: number, visibility: Visibility): Promise<string[]> {
  const below = await listVisibilitiesBelow(ctx.db, groupId)
  const higher = (one: Visibility) => visibilityRank[one] > visibilityRank[visibility]
  const faults: string[] = []
  if (below.projects.some(higher)) {
    faults.push(
      `${visibility} is not allowed since this group contains projects with higher visibility.`,
    )
  }
  if (below.groups.some(higher)) {
    faults.push(`${visibility} is not allowed since there are sub-groups with higher visibility.`)
  }
  return faults
}
