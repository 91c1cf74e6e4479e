import { userOf } from '../../access/actor.ts'
import { Role, type Visibility, visibilityRank } from '../../access/roles.ts'
import type { Group } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { groupNameFaults, groupPathFaults } from '../../base/path-rules.ts'
import type { Ctx } from '../../ctx.ts'
import type { Avatar } from '../../identity/users/avatar/sent-avatar.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { addFirstMember } from '../members/found-source.ts'
import { sharedRunnersOf } from '../namespaces/shared-runners.ts'
import { resetRegistrationToken } from '../registration-tokens/verbs.ts'
import { assertMayCreateTopGroup, getParentGroup } from './access.ts'
import { assertDepth, groupVisibilityFaults, pathTaken, refuseGroupFaults } from './faults.ts'
import { countAncestors, insertGroup } from './queries.ts'
import { auditGroup } from './record.ts'
import type { GroupColumns } from './settings.ts'
import { sharedRunnersFaults } from './shared-runners.ts'
import type { Place } from './tree-queries.ts'

/** What may be said of a new group and of one that is there. */
export interface GroupFields {
  readonly description?: string | null | undefined
  readonly visibility?: Visibility | undefined
  readonly settings?: Readonly<Record<string, unknown>> | undefined
  readonly columns?: GroupColumns | undefined
}

/** A group to be made. */
interface NewGroup extends GroupFields {
  readonly name: string
  readonly path: string
  readonly parentId?: number | undefined
  readonly avatar?: Avatar | undefined
}

/** Makes a group with the caller as its owner; gives its id. */
export async function createGroup(ctx: Ctx, input: NewGroup): Promise<number> {
  return await uniquely(pathTaken, () =>
    inTransaction(ctx, async (ctx) => {
      // Read inside: the parent may have been moved, renamed or deleted a moment ago.
      const parent = input.parentId === undefined ? null : await getParent(ctx, input.parentId)
      if (!parent) await assertMayCreateTopGroup(ctx)
      const id = await insertBelow(ctx, parent, input)
      await auditGroup(ctx, id, 'group_created', { path: input.path })
      await runEffects(ctx, ctx.effects.groupChanged, { id, change: 'create' })
      return id
    }),
  )
}

async function insertBelow(ctx: Ctx, parent: Group | null, input: NewGroup): Promise<number> {
  const visibility = input.visibility ?? presetVisibility(ctx, parent)
  const above = parent ? sharedRunnersOf(parent.settings) : undefined
  // What nobody says is as in the group above.
  const settings = { ...(above ? { shared_runners_setting: above } : {}), ...input.settings }
  refuseGroupFaults({
    name: groupNameFaults(input.name),
    path: groupPathFaults(input.path, parent === null),
    description: groupDescriptionFaults(input.description),
    visibility_level: groupVisibilityFaults(ctx, visibility, parent),
    shared_runners_setting: sharedRunnersFaults(sharedRunnersOf(settings), above),
  })
  const now = ctx.now()
  const user = userOf(ctx.actor)
  const place = placeBelow(parent, input)
  const id = await insertGroup(ctx.db, {
    kind: 'group',
    parent_id: parent?.id ?? null,
    name: input.name,
    path: input.path,
    full_path: place.fullPath,
    full_name: place.fullName,
    visibility,
    description: input.description ?? '',
    settings: JSON.stringify(settings),
    ...input.avatar,
    creator_id: user?.id ?? null,
    created_at: now,
    updated_at: now,
    ...input.columns,
  })
  await resetRegistrationToken(ctx, { groupId: id, projectId: null })
  if (user) {
    const owner = { userId: user.id, level: Role.owner, createdById: user.id }
    await addFirstMember(ctx, { type: 'group', id }, owner)
  }
  return id
}

/** The full path and name of a group below another, or at the top. */
export function placeBelow(
  parent: Pick<Group, 'full_path' | 'full_name'> | null,
  { path, name }: Pick<Group, 'path' | 'name'>,
): Place {
  return {
    fullPath: parent ? `${parent.full_path}/${path}` : path,
    fullName: parent ? `${parent.full_name} / ${name}` : name,
  }
}

export function groupDescriptionFaults(description: string | null | undefined): string[] {
  return (description ?? '').length > 500 ? ['is too long (maximum is 500 characters)'] : []
}

async function getParent(ctx: Ctx, id: number): Promise<Group> {
  const parent = await getParentGroup(ctx, id)
  assertDepth(await countAncestors(ctx.db, parent.id))
  return parent
}

function presetVisibility(ctx: Ctx, parent: Group | null): Visibility {
  const wanted = ctx.settings.get('default_group_visibility')
  if (!parent) return wanted
  return visibilityRank[wanted] <= visibilityRank[parent.visibility] ? wanted : parent.visibility
}
