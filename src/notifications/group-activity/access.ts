import { type Condition, condition, mayOr } from '../../access/conditions.ts'
import { mayInGroup } from '../../access/decide.ts'
import { getVisibleGroup } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'

interface Asking {
  readonly ctx: Ctx
  readonly query: { readonly group_path: string }
}

/** The group is named in the query here. */
export const readsActivity: Condition<Asking> = condition(
  'group_path: read_activity',
  async ({ ctx, query }) => {
    const group = await getVisibleGroup(ctx, query.group_path)
    return mayOr(ctx, mayInGroup(ctx.actor, group, 'read_activity'))
  },
)
