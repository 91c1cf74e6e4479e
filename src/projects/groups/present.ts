import { isAdmin, userOf } from '../../access/actor.ts'
import { mayInGroup, maySee } from '../../access/decide.ts'
import { findGroupById, type GroupRow } from '../../access/find-queries.ts'
import { findVisibleGroup } from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { avatarUrl } from '../../identity/users/basic.ts'
import { listGroupLinks } from '../members/link-queries.ts'
import { settingValues } from '../namespaces/setting-fields.ts'
import { listProjects } from '../projects/list/list-projects.ts'
import { visibleRunnersToken } from '../registration-tokens/visible.ts'
import { sumGroupSizes } from '../statistics/queries.ts'
import { presentSizes } from '../statistics/sizes.ts'
import { protectionOf } from './branch-protection.ts'
import type { GroupDetail, GroupEntity } from './entity.ts'
import { listGroupAttributes, listOwnedGroups } from './queries.ts'
import { groupDetailSettings, groupSettings } from './settings.ts'

/** What a caller asked to see beside the usual. */
export interface WantedOfGroup {
  readonly statistics?: boolean | undefined
  readonly customAttributes?: boolean | undefined
}

/** Groups as the caller sees them, in the order given. */
export async function presentGroups(
  ctx: Ctx,
  rows: readonly GroupRow[],
  wanted: WantedOfGroup,
): Promise<GroupEntity[]> {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.id)
  const admin = isAdmin(ctx.actor)
  const attributes =
    wanted.customAttributes && admin ? await listGroupAttributes(ctx.db, ids) : undefined
  const measured = wanted.statistics ? await listMeasured(ctx, ids) : []
  const sizes = await sumGroupSizes(ctx.db, measured)
  return rows.map((row) => {
    const own = sizes.get(row.id)
    return {
      ...presentPlain(ctx, row),
      ...(own ? { statistics: presentSizes(own) } : {}),
      ...(attributes
        ? {
            custom_attributes: attributes
              .filter((one) => one.subject_id === row.id)
              .map(({ key, value }) => ({ key, value })),
          }
        : {}),
    }
  })
}

/** Statistics are for administrators, and for owners of a group (docs/contract/D §1.3). */
async function listMeasured(ctx: Ctx, ids: readonly number[]): Promise<readonly number[]> {
  if (isAdmin(ctx.actor)) return ids
  const user = userOf(ctx.actor)
  return user ? await listOwnedGroups(ctx.db, user.id, ids, dayOf(ctx.now())) : []
}

/** A group with what only a single read shows, read anew. */
export async function readGroup(
  ctx: Ctx,
  id: number,
  wanted: WantedOfGroup & { readonly projects?: boolean | undefined } = {},
): Promise<GroupDetail> {
  const row = existing(await findGroupById(ctx.db, id), 'Group')
  const [group = presentPlain(ctx, row)] = await presentGroups(ctx, [row], wanted)
  const links = await listGroupLinks(ctx.db, 'group', [row.id], dayOf(ctx.now()))
  const seen = await findVisibleGroup(ctx, String(row.id))
  const role = seen?.role ?? 0
  const mayManage = seen !== undefined && mayInGroup(ctx.actor, seen, 'admin_runners')
  const place = { groupId: row.id, projectId: null }
  return {
    ...group,
    // Invited groups that the caller may know of.
    shared_with_groups: links
      .filter(({ visibility }) => maySee(ctx.actor, { visibility, role }))
      .map(({ source_id: _, visibility: __, ...link }) => link),
    ...(wanted.projects ? await embeddedProjects(ctx, row.id) : {}),
    membership_lock: row.membership_lock === 1,
    ...(await visibleRunnersToken(ctx, place, mayManage)),
    ...settingValues(groupDetailSettings, readSettings(row.settings)),
  }
}

/** Projects of the group and projects shared with it, at most 100 each (docs/contract/D §1.3). */
async function embeddedProjects(ctx: Ctx, groupId: number) {
  const page = { kind: 'offset', number: 1, perPage: 100, offset: 0 } as const
  const own = { kind: 'group', groupId, subgroups: false, ancestors: false, shared: false } as const
  const projects = await listProjects(ctx, own, {}, page)
  const shared = await listProjects(ctx, { kind: 'shared_with', groupId }, {}, page)
  return { projects: [...projects.items], shared_projects: [...shared.items] }
}

function readSettings(settings: string): Readonly<Record<string, unknown>> {
  return JSON.parse(settings) as Record<string, unknown> // written by us as a JSON object
}

function presentPlain(ctx: Ctx, row: GroupRow): GroupEntity {
  const settings = settingValues(groupSettings, readSettings(row.settings))
  const protection =
    settings.default_branch_protection_defaults ?? protectionOf(settings.default_branch_protection)
  return {
    id: row.id,
    web_url: `${ctx.config.externalUrl}/groups/${row.full_path}`,
    name: row.name,
    path: row.path,
    description: row.description,
    visibility: row.visibility,
    share_with_group_lock: row.share_with_group_lock === 1,
    project_creation_level: row.project_creation_level,
    subgroup_creation_level: row.subgroup_creation_level,
    emails_disabled: !settings.emails_enabled,
    ...settings,
    default_branch_protection_defaults: {
      ...protection,
      // What was kept before this was always shown does not have it.
      developer_can_initial_push: protection.developer_can_initial_push ?? false,
    },
    avatar_url: avatarUrl(ctx, 'group', row.id, row),
    request_access_enabled: row.request_access_enabled === 1,
    full_name: row.full_name,
    full_path: row.full_path,
    created_at: row.created_at,
    parent_id: row.parent_id,
    organization_id: 1,
    marked_for_deletion_on: row.marked_for_deletion_on,
    archived: row.ancestor_archived === 1,
    ldap_cn: null,
    ldap_access: null,
  }
}
