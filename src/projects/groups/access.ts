import { isAdmin, userOf } from '../../access/actor.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { type Conditions, mayInGroup } from '../../access/decide.ts'
import { type Group, getVisibleGroup } from '../../access/subjects.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findCanCreateGroup } from './queries.ts'

/** Owners may make subgroups, Maintainers where the group lets them (docs/contract/D §1.3 Rules). */
function mayCreateSubgroup(ctx: Ctx, parent: Group): boolean {
  const conditions: Conditions = {
    for_maintainers: parent.subgroup_creation_level === 'maintainer',
  }
  return mayInGroup(ctx.actor, parent, 'create_subgroup', conditions)
}

/** Groups are moved into a group by its owners alone. */
export function mayMoveInto(ctx: Ctx, parent: Group): boolean {
  return mayInGroup(ctx.actor, parent, 'create_subgroup')
}

/** The parent of a new group: 404 when hidden, 403 without the right to make subgroups there. */
export async function getParentGroup(ctx: Ctx, id: number): Promise<Group> {
  const parent = await getVisibleGroup(ctx, String(id))
  if (!mayCreateSubgroup(ctx, parent)) throw forbidden()
  return parent
}

/** 403 unless the caller may make groups at the top. */
export async function assertMayCreateTopGroup(ctx: Ctx): Promise<void> {
  if (isAdmin(ctx.actor)) return
  const user = userOf(ctx.actor)
  if (!user || user.external || !ctx.settings.get('can_create_group')) throw forbidden()
  if (!(await findCanCreateGroup(ctx.db, user.id))) throw forbidden()
}

interface Creating {
  readonly ctx: Ctx
  readonly body: { readonly parent_id?: number | undefined }
}

export const createsGroup: Condition<Creating> = condition(
  'parent_id: create_subgroup there; without it, groups at the top',
  async ({ ctx, body }) => {
    if (body.parent_id === undefined) await assertMayCreateTopGroup(ctx)
    else await getParentGroup(ctx, body.parent_id)
    return true as const
  },
)
