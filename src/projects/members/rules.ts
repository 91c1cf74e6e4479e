import { isBelowGroup } from '../../access/authentication/sign-in-queries.ts'
import { MEMBER_LEVELS, Role } from '../../access/roles.ts'
import type { Source } from '../../access/sources.ts'
import { type Day, dayOf } from '../../base/clock.ts'
import { invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { findInheritedLevel } from './queries.ts'

const levelNames: Readonly<Record<number, string>> = {
  [Role.minimal]: 'Minimal Access',
  [Role.guest]: 'Guest',
  [Role.planner]: 'Planner',
  [Role.reporter]: 'Reporter',
  [Role.developer]: 'Developer',
  [Role.maintainer]: 'Maintainer',
  [Role.owner]: 'Owner',
}

export function levelName(level: number): string {
  return levelNames[level] ?? 'No access'
}

/** What a membership is to be. */
export interface Grant {
  readonly access_level: number
  /** Absent leaves it as it is, null ends it. */
  readonly expires_at?: Day | null | undefined
  readonly member_role_id?: number | null | undefined
}

/** Refuses a level that is none: `is not included in the list` (docs/contract/A-resolved §9). */
export function assertLevel(source: Source, level: number): void {
  const levels: readonly number[] = MEMBER_LEVELS
  const top = source.type === 'group' && source.parent_id === null
  if (levels.includes(level) || (level === Role.minimal && top)) return
  throw invalid({ access_level: ['is not included in the list'] })
}

/** A membership that ends today has ended: the last good day is tomorrow at the earliest. */
export function assertExpiry(ctx: Ctx, expiresAt: Day | null | undefined): void {
  if (!expiresAt || expiresAt > dayOf(ctx.now())) return
  throw invalid({ expires_at: ['cannot be a date in the past'] })
}

/** A direct level is no lower than what the user has from above. */
export async function assertNotBelowInherited(
  ctx: Ctx,
  source: Source,
  userId: number,
  level: number,
): Promise<void> {
  const inherited = await findInheritedLevel(ctx.db, source, userId, dayOf(ctx.now()))
  if (!inherited || level >= inherited.level) return
  const text = `should be greater than or equal to ${levelName(inherited.level)} inherited membership from group ${inherited.group}`
  throw invalid({ access_level: [text] })
}

/** Bots of tokens stay where they are; a group's service accounts go to the group and below (docs/contract/A §Group service accounts). */
export async function assertMayBelong(
  ctx: Ctx,
  source: Source,
  user: {
    readonly kind: string
    readonly service_source_type: 'group' | 'project' | null
    readonly service_source_id: number | null
  },
): Promise<void> {
  if (user.kind === 'project_bot' || user.kind === 'group_bot') {
    throw invalid({ user_id: ['project bots cannot be added to other groups / projects'] })
  }
  if (user.kind === 'ghost') throw invalid({ user_id: ['is not a valid user'] })
  if (user.kind !== 'service_account' || user.service_source_id === null) return
  const home = user.service_source_id
  const fits =
    user.service_source_type === 'group'
      ? await isBelowGroup(ctx.db, source.namespaceId, home)
      : source.type === 'project' && source.id === home
  if (fits) return
  const text = 'service accounts can be added only to their own group or project and below'
  throw invalid({ user_id: [text] })
}
