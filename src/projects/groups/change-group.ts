import { type Visibility, visibilityRank } from '../../access/roles.ts'
import { type Group, getVisibleGroup } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { groupNameFaults, groupPathFaults } from '../../base/path-rules.ts'
import { invalid, type Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Avatar } from '../../identity/users/avatar/sent-avatar.ts'
import { inTransaction } from '../../store/transaction.ts'
import { brokenKey } from '../../store/unique.ts'
import { sharedRunnersOf } from '../namespaces/shared-runners.ts'
import { followNamespacePath } from '../projects/below.ts'
import { groupDescriptionFaults } from './create-group.ts'
import { groupVisibilityFaults } from './faults.ts'
import { findParent, type GroupChange, updateGroupRow } from './queries.ts'
import { auditGroup } from './record.ts'
import type { GroupColumns } from './settings.ts'
import { followSharedRunners, sharedRunnersFaults } from './shared-runners.ts'
import { listVisibilitiesBelow, moveBelow } from './tree-queries.ts'

/** What an update changes; absent parts stay as they are. */
export interface GroupUpdate {
  readonly name?: string | undefined
  readonly path?: string | undefined
  readonly description?: string | null | undefined
  readonly visibility?: Visibility | undefined
  readonly settings?: Readonly<Record<string, unknown>> | undefined
  readonly columns?: GroupColumns | undefined
  /** Null removes it. */
  readonly avatar?: Avatar | null | undefined
}

/** Changes a group; the paths and names of all below follow its own. */
export async function changeGroup(ctx: Ctx, groupId: number, update: GroupUpdate): Promise<void> {
  try {
    await inTransaction(ctx, async (ctx) => {
      // Read inside: what lies below is moved from where the group is now, whoever moved it a moment ago.
      const group = await getVisibleGroup(ctx, String(groupId))
      const parent = await findParent(ctx.db, group.id)
      await refuseFaults(ctx, group, update, parent ?? null)
      const name = update.name ?? group.name
      const path = update.path ?? group.path
      const to = {
        fullPath: parent ? `${parent.full_path}/${path}` : path,
        fullName: parent ? `${parent.full_name} / ${name}` : name,
      }
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
    })
  } catch (error) {
    throw pathTaken(error) ?? error
  }
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

interface Place {
  readonly fullPath: string
  readonly fullName: string
}

async function moveAlong(ctx: Ctx, group: Group, from: Place, to: Place): Promise<void> {
  if (from.fullPath === to.fullPath && from.fullName === to.fullName) return
  await moveBelow(ctx.db, group.id, from, to)
  await followNamespacePath(ctx, group.id, from.fullPath, to.fullPath)
  if (from.fullPath === to.fullPath) return
  await runEffects(ctx, ctx.effects.groupChanged, { id: group.id, change: 'rename', old: group })
}

const noAvatar = { avatar_file: null, avatar_name: null } as const

/** 400 of a path that somebody else has, or undefined for any other error. */
function pathTaken(error: unknown): Problem | undefined {
  const key = brokenKey(error)
  return key === 'routes.path' ? invalid({ path: ['has already been taken'] }) : undefined
}

async function refuseFaults(
  ctx: Ctx,
  group: Group,
  update: GroupUpdate,
  parent: { readonly visibility: Visibility; readonly settings: string } | null,
): Promise<void> {
  const { name, path, visibility } = update
  const changes = visibility !== undefined && visibility !== group.visibility
  const runners = update.settings?.shared_runners_setting
  const faults = {
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
  }
  const wrong = Object.entries(faults).filter(([, texts]) => texts.length > 0)
  if (wrong.length > 0) throw invalid(Object.fromEntries(wrong))
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
