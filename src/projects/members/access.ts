import { userOf } from '../../access/actor.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { eitherRecord } from '../../access/records.ts'
import { MEMBER_LEVELS } from '../../access/roles.ts'
import {
  type EitherAbility,
  mayInSource,
  onEither,
  readEither,
  type Source,
} from '../../access/sources.ts'
import type { Group, Project } from '../../access/subjects.ts'
import { existing, forbidden, type Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { getMembership, getNewcomer, type UserKey } from './find-member.ts'
import { isLastOwner } from './last-owner.ts'
import { findLink } from './link-queries.ts'
import { findMemberUser } from './queries.ts'

/** 401, then parameters, then 404, then what it takes (docs/contract/A-resolved §1). */
export const membersOrder = { signedIn: true, validateFirst: true } as const

/** The project or group of a members route, for anybody signed in who may read it, or who has the ability there. */
export function onMembers(ability: EitherAbility = readEither) {
  return onEither(ability, membersOrder)
}

const membership = eitherRecord(readEither, {
  params: { user_id: id() },
  find: async ({ ctx, source, params }) => ({
    membership: await getMembership(ctx, source, params.user_id),
  }),
  updatedAt: ({ membership }) => membership.updated_at,
  async conditions({ ctx, source, membership }) {
    const oneself = userOf(ctx.actor)?.id === membership.user_id
    const user = await findMemberUser(ctx.db, { id: membership.user_id ?? 0 })
    return {
      oneself,
      above: !oneself && membership.access_level > source.role,
      bot: user?.kind === 'project_bot' || user?.kind === 'group_bot',
      last_owner: await isLastOwner(ctx, source, membership),
    }
  },
})

/** The direct membership of `:user_id`. */
export function onMembership(ability: 'change_member' | 'remove_member') {
  return membership(ability, membersOrder)
}

/** A level above the caller's own; what is no level at all is refused as wrong later. */
export function isAbove(
  subject: { readonly role: number } | undefined,
  level: number | undefined,
): boolean {
  const levels: readonly number[] = MEMBER_LEVELS
  return level !== undefined && levels.includes(level) && level > (subject?.role ?? 0)
}

interface Giving {
  readonly source: Source
  readonly body: { readonly access_level?: number | undefined }
}

/** Nobody gives a level above their own (docs/contract/A-resolved §9). */
export function givesLevel(preset?: number): Condition<Giving> {
  return condition('access_level: not above the caller', ({ source, body }) =>
    isAbove(source, body.access_level ?? preset) ? forbidden() : true,
  )
}

const share = eitherRecord(
  { projects: 'share_project', groups: 'admin_group' },
  {
    params: { group_id: id() },
    find: async ({ ctx, source, params }) => ({
      share: existing(await findLink(ctx.db, source, params.group_id)),
    }),
    conditions: ({ source, share }) => ({ above: share.access_level > source.role }),
  },
)

/** The invitation of the group `:group_id`, which nobody ends that gives more than they have. */
export const onShare = () => share({ projects: 'end_share', groups: 'admin_group' })

interface Sharing {
  readonly project?: Project
  readonly group?: Group
  readonly body: { readonly group_access: number }
}

/** Nobody shares with more than their own level. */
export const sharesLevel: Condition<Sharing> = condition(
  'group_access: not above the caller',
  ({ project, group, body }) => (isAbove(project ?? group, body.group_access) ? forbidden() : true),
)

/** Why the caller may not give this level, if so: where several are added, each gets an answer (docs/contract/A-resolved §9). */
export function refusedGrant(ctx: Ctx, source: Source, level: number): Problem | undefined {
  const may = mayInSource(ctx, source, 'add_member') && !isAbove(source, level)
  return may ? undefined : forbidden()
}

interface Adding {
  readonly ctx: Ctx
  readonly source: Source
  readonly body: {
    readonly user_id?: readonly number[] | undefined
    readonly username?: readonly string[] | undefined
    readonly access_level: number
  }
}

/** The users whom a request names, by id or username. */
export function namedUsers({ user_id, username }: Adding['body']): readonly UserKey[] {
  return user_id?.map((id) => ({ id })) ?? (username ?? []).map((username) => ({ username }))
}

/** Who adds one member must be allowed to; an unknown user and one who is a member are refused first. */
export const addsMember: Condition<Adding> = condition(
  'user_id, username: add_member, access_level not above the caller',
  async ({ ctx, source, body }) => {
    const [only, ...others] = namedUsers(body)
    const refused = refusedGrant(ctx, source, body.access_level)
    if (!refused || !only || others.length > 0) return true
    await getNewcomer(ctx, source, only)
    return refused
  },
)
