import type { Ctx } from '../../ctx.ts'
import type { SshKeyRow } from '../../identity/keys/queries.ts'
import type { UserRow } from '../../identity/users/queries.ts'
import type { GroupChange, MemberChange, ProjectChange } from '../../projects/effects.ts'
import { findRowOfUser } from '../../projects/members/queries.ts'
import { levelName } from '../../projects/members/rules.ts'
import { fireHooks, type HookPayload } from './fire.ts'
import { shownEmail } from './payloads/payload-parts.ts'
import {
  findFirstMember,
  findFirstProjectId,
  findFirstSubgroupId,
  findHookGroupRow,
  findHookProjectRow,
  findHookUserRow,
  type HookGroupRow,
  type HookProjectRow,
  listOwners,
} from './system-queries.ts'

/**
 * Notifies the instance's hooks, and groups' hooks of projects that are made and removed, in the caller's transaction (docs/contract/D §1.25
 * System hooks). The payload of a removed project is made before its row changes.
 */
export async function fireProjectHooks(
  ctx: Ctx,
  { id, change, oldPath }: ProjectChange,
): Promise<void> {
  const project = await findHookProjectRow(ctx.db, id)
  if (!project) return
  const payload = (receiver: Receiver) => async () => ({
    ...(await projectPayload(ctx, project, change, receiver)),
    ...(oldPath === undefined ? {} : { old_path_with_namespace: oldPath }),
  })
  await fireHooks(ctx, null, 'system', payload('instance'))
  if (change !== 'create' && change !== 'destroy') return
  const above = { id: null, namespace_id: project.namespace_id }
  await fireHooks(ctx, above, 'project', payload('group'))
}

/** Whose hook gets a payload: administrators know everybody's address, owners of groups only those that are public. */
type Receiver = 'instance' | 'group'

function emailFor(
  receiver: Receiver,
  user: { readonly email: string; readonly public_email: string | null },
): string {
  return receiver === 'instance' ? user.email : shownEmail(user)
}

async function projectPayload(
  ctx: Ctx,
  project: HookProjectRow,
  change: ProjectChange['change'],
  receiver: Receiver,
): Promise<HookPayload> {
  const user =
    project.owner_id === null ? undefined : await findHookUserRow(ctx.db, project.owner_id)
  const owners = user ? [user] : await listOwners(ctx.db, project.namespace_id)
  return {
    event_name: `project_${change}`,
    created_at: project.created_at,
    updated_at: project.updated_at,
    name: project.name,
    path: project.path,
    path_with_namespace: project.full_path,
    project_id: project.id,
    project_namespace_id: project.namespace_id,
    owner_name: user?.name ?? project.namespace_name,
    owner_email: user ? emailFor(receiver, user) : '',
    owners: owners.map((owner) => ({ name: owner.name, email: emailFor(receiver, owner) })),
    project_visibility: project.visibility,
  }
}

/** The same for groups; hooks of the groups above are notified of subgroups that are made and removed. */
export async function fireGroupHooks(ctx: Ctx, { id, change, old }: GroupChange): Promise<void> {
  const group = await findHookGroupRow(ctx.db, id)
  if (!group) return
  await fireHooks(ctx, null, 'system', () => ({
    event_name: `group_${change}`,
    ...groupPayload(group),
    ...(old ? { old_path: old.path, old_full_path: old.full_path } : {}),
  }))
  if (change === 'rename' || group.parent_id === null) return
  await fireHooks(ctx, { id: null, namespace_id: group.parent_id }, 'subgroup', () =>
    subgroupPayload(group, change),
  )
}

function subgroupPayload(group: HookGroupRow, change: GroupChange['change']): HookPayload {
  return {
    event_name: `subgroup_${change}`,
    ...groupPayload(group),
    parent_group_id: group.parent_id,
    parent_name: group.parent_name,
    parent_path: group.parent_path,
    parent_full_path: group.parent_full_path,
  }
}

function groupPayload(group: HookGroupRow): HookPayload {
  return {
    created_at: group.created_at,
    updated_at: group.updated_at,
    name: group.name,
    path: group.path,
    full_path: group.full_path,
    group_id: group.id,
  }
}

const firingOfPeople =
  (event: 'user_create' | 'user_destroy') =>
  async (ctx: Ctx, user: UserRow): Promise<void> => {
    if (user.kind === 'human') await fireUserHooks(ctx, user.id, event)
  }

/** Notifies the instance's hooks of a new user. */
export const fireUserCreated = firingOfPeople('user_create')
/** The same of one who goes, before the row does. */
export const fireUserRemoved = firingOfPeople('user_destroy')

/** The same of another username. */
export async function fireUserRenamed(
  ctx: Ctx,
  { user, oldUsername }: { readonly user: UserRow; readonly oldUsername: string },
): Promise<void> {
  if (user.username === oldUsername) return
  await fireUserHooks(ctx, user.id, 'user_rename', { old_username: oldUsername })
}

/** The same of somebody who is blocked and tried to sign in. */
export async function fireSignInRefused(ctx: Ctx, { id }: { readonly id: number }): Promise<void> {
  const user = await findHookUserRow(ctx.db, id)
  await fireUserHooks(ctx, id, 'user_failed_login', { state: user?.state ?? null })
}

async function fireUserHooks(
  ctx: Ctx,
  id: number,
  event: 'user_create' | 'user_destroy' | 'user_rename' | 'user_failed_login',
  more: HookPayload = {},
): Promise<void> {
  await fireHooks(ctx, null, 'system', async () => {
    const user = await findHookUserRow(ctx.db, id)
    return {
      event_name: event,
      created_at: user?.created_at ?? null,
      updated_at: user?.updated_at ?? null,
      name: user?.name ?? '',
      email: user?.email ?? '',
      username: user?.username ?? '',
      user_id: id,
      ...more,
    }
  })
}

const firingOfKeys =
  (event: 'key_create' | 'key_destroy') =>
  (ctx: Ctx, row: SshKeyRow): Promise<void> =>
    fireHooks(ctx, null, 'system', async () => {
      const user = row.user_id === null ? undefined : await findHookUserRow(ctx.db, row.user_id)
      return {
        event_name: event,
        created_at: row.created_at,
        updated_at: row.created_at,
        username: user?.username ?? null,
        key: row.key,
        id: row.id,
      }
    })

/** The same of the keys of people. */
export const fireKeyAdded = firingOfKeys('key_create')
export const fireKeyRemoved = firingOfKeys('key_destroy')

const memberWords = {
  project: {
    member_added: 'user_add_to_team',
    member_changed: 'user_update_for_team',
    member_removed: 'user_remove_from_team',
    requested: 'user_access_request_to_project',
    denied: 'user_access_request_revoked_for_project',
  },
  group: {
    member_added: 'user_add_to_group',
    member_changed: 'user_update_for_group',
    member_removed: 'user_remove_from_group',
    requested: 'user_access_request_to_group',
    denied: 'user_access_request_revoked_for_group',
  },
} as const

/** Notifies the instance's hooks, and those of the group, of members who joined, changed or left. */
export async function fireMemberHooks(ctx: Ctx, member: MemberChange): Promise<void> {
  const { source } = member
  const payload = (receiver: Receiver) => () => memberPayload(ctx, member, receiver)
  await fireHooks(ctx, null, 'system', payload('instance'))
  if (source.type === 'project') return
  await fireHooks(ctx, { id: null, namespace_id: source.id }, 'member', payload('group'))
}

async function memberPayload(
  ctx: Ctx,
  { source, change, userId, level }: MemberChange,
  receiver: Receiver,
): Promise<HookPayload> {
  const user = await findHookUserRow(ctx.db, userId)
  // Absent for one who left.
  const row = await findRowOfUser(ctx.db, source, userId)
  const common = {
    event_name: memberWords[source.type][change],
    created_at: row?.created_at ?? ctx.now(),
    updated_at: row?.updated_at ?? ctx.now(),
    user_id: userId,
    user_name: user?.name ?? '',
    user_username: user?.username ?? '',
    user_email: user ? emailFor(receiver, user) : '',
  }
  const name = levelName(level)
  if (source.type === 'project') {
    const project = await findHookProjectRow(ctx.db, source.id)
    return {
      ...common,
      access_level: name,
      project_id: source.id,
      project_name: project?.name ?? '',
      project_path: project?.path ?? '',
      project_path_with_namespace: project?.full_path ?? '',
      project_visibility: project?.visibility ?? 'private',
    }
  }
  const group = await findHookGroupRow(ctx.db, source.id)
  return {
    ...common,
    group_access: name,
    group_id: source.id,
    group_name: group?.name ?? '',
    group_path: group?.path ?? '',
    group_plan: null,
    expires_at: row?.expires_at ?? null,
  }
}

/** For trying out the hooks of a group: its first project, subgroup or member, as if made just now. */
export const groupExamples = {
  async project(ctx: Ctx, groupId: number): Promise<HookPayload | undefined> {
    const id = await findFirstProjectId(ctx.db, groupId)
    const project = id === undefined ? undefined : await findHookProjectRow(ctx.db, id)
    return project && (await projectPayload(ctx, project, 'create', 'group'))
  },
  async subgroup(ctx: Ctx, groupId: number): Promise<HookPayload | undefined> {
    const id = await findFirstSubgroupId(ctx.db, groupId)
    const group = id === undefined ? undefined : await findHookGroupRow(ctx.db, id)
    return group && subgroupPayload(group, 'create')
  },
  async member(ctx: Ctx, groupId: number): Promise<HookPayload | undefined> {
    const found = await findFirstMember(ctx.db, groupId)
    if (!found) return undefined
    const member = { source: { type: 'group', id: groupId }, change: 'member_added' } as const
    return await memberPayload(ctx, { ...member, ...found }, 'group')
  },
}
