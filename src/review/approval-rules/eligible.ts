import { Role, type Visibility } from '../../access/roles.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { listGroupMemberIds, listMemberIds, type NamedRule } from './queries.ts'

/** The people among whom rules of a project find their approvers. */
export interface People {
  /** Developers and above, who may approve where no rule names anybody. */
  readonly developers: ReadonlySet<number>
  /** Members whom a rule may name (docs/contract/D §2.2): guests of a private project do not see its merge requests. */
  readonly members: ReadonlySet<number>
  readonly groups: ReadonlyMap<number, ReadonlySet<number>>
  /** Whether only members see the project, also of the groups that a rule names. */
  readonly isPrivate: boolean
}

/** The people that the approval rules of a project can name. */
export async function peopleOf(
  ctx: Ctx,
  project: { readonly id: number; readonly visibility: Visibility },
  rules: readonly NamedRule[],
): Promise<People> {
  const today = dayOf(ctx.now())
  const groupIds = [...new Set(rules.flatMap((rule) => rule.groupIds))]
  const [developers, members, groups] = await Promise.all([
    listMemberIds(ctx.db, project.id, Role.developer, today),
    listMemberIds(ctx.db, project.id, Role.planner, today),
    listGroupMemberIds(ctx.db, groupIds, today),
  ])
  return { developers, members, groups, isPrivate: project.visibility === 'private' }
}

/** Who may satisfy a rule, before a merge request bars its author and committers. */
export function eligibleFor(rule: NamedRule, people: People): ReadonlySet<number> {
  const { developers, members, groups, isPrivate } = people
  if (rule.rule_type === 'any_approver') return developers
  const ofGroups = rule.groupIds.flatMap((id) => [...(groups.get(id) ?? [])])
  // Owners of files are Developers at least, whoever they are named by (docs/contract/B-resolved §7).
  if (rule.rule_type === 'code_owner') {
    return new Set([...rule.userIds, ...ofGroups].filter((id) => developers.has(id)))
  }
  const seeing = isPrivate ? ofGroups.filter((id) => members.has(id)) : ofGroups
  return new Set([...rule.userIds.filter((id) => members.has(id)), ...seeing])
}
