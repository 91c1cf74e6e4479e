import type { ProjectAbility } from '../../access/abilities.ts'
import { Role } from '../../access/roles.ts'
import { matchesPattern } from '../../base/name-pattern.ts'

/** Who a rule lets through: exactly one of these is set. */
export interface Level {
  readonly access_level: number | null
  readonly user_id: number | null
  readonly group_id: number | null
  readonly deploy_key_id: number | null
}

export interface BranchRule {
  /** A branch name, or a pattern with `*`. */
  readonly name: string
  readonly allowForcePush: boolean
  /** Files with owners change by merge requests only. */
  readonly codeOwners: boolean
  readonly push: readonly Level[]
  readonly merge: readonly Level[]
  readonly unprotect: readonly Level[]
}

export interface TagRule {
  readonly name: string
  readonly create: readonly Level[]
}

/** The one who wants to move a ref, as far as rules ask. */
export interface Mover {
  readonly userId: number | null
  readonly deployKeyId: number | null
  /** Groups named by rules that the user belongs to. */
  readonly groupIds: ReadonlySet<number>
  /** Asks the table of abilities about the project. */
  may(ability: ProjectAbility): boolean
  /** Whether the role in the project is at least what a rule names. */
  hasLevel(level: number): boolean
}

/** The rules that mean a branch or tag. */
export function rulesFor<R extends { readonly name: string }>(
  rules: readonly R[],
  name: string,
): R[] {
  return rules.filter((rule) => matchesPattern(rule.name, name))
}

/** Whether any of the levels lets the mover through. Level 0 lets nobody through (docs/contract/B-resolved §9.1). */
export function lets(levels: readonly Level[], mover: Mover): boolean {
  return levels.some((level) => letsThrough(level, mover))
}

function letsThrough(level: Level, mover: Mover): boolean {
  if (level.deploy_key_id !== null) return level.deploy_key_id === mover.deployKeyId
  // A user or group that is named still needs the right to push at all.
  if (level.user_id !== null) {
    return level.user_id === mover.userId && mover.may('pass_named_level')
  }
  if (level.group_id !== null) {
    return mover.groupIds.has(level.group_id) && mover.may('pass_named_level')
  }
  if (level.access_level === null || level.access_level === 0) return false
  return mover.hasLevel(level.access_level)
}

/** Several rules may mean one branch: it is enough that one of them allows (docs/contract/D §1.5). */
export function mayPushTo(rules: readonly BranchRule[], mover: Mover): boolean {
  return rules.some((rule) => lets(rule.push, mover))
}

export function mayMergeInto(rules: readonly BranchRule[], mover: Mover): boolean {
  return rules.some((rule) => lets(rule.merge, mover))
}

/** For those who may push at all. */
export function allowForcePush(rules: readonly BranchRule[]): boolean {
  return rules.some((rule) => rule.allowForcePush)
}

export function mayCreateTag(rules: readonly TagRule[], mover: Mover): boolean {
  return rules.some((rule) => lets(rule.create, mover))
}

/** How a default branch is protected when it is first pushed. */
export interface DefaultProtection {
  /** None leaves it open to all who may push. */
  readonly rule: { readonly push: number; readonly merge: number; readonly force: boolean } | null
  /** Whether Developers may push before there is anything. */
  readonly developersStart: boolean
}

/** What a level of `default_branch_protection` stands for (docs/contract/D §1.3 Fields). */
export function protectionByLevel(level: number): DefaultProtection {
  const { maintainer, developer } = Role
  if (level === 0) return { rule: null, developersStart: true }
  return {
    rule: {
      push: level === 1 ? developer : maintainer,
      merge: level === 3 ? developer : maintainer,
      force: false,
    },
    developersStart: level === 1 || level === 4,
  }
}

/** The same of what a group says role by role; of several roles the least counts. */
export function protectionByRoles(roles: {
  readonly allowed_to_push: readonly { readonly access_level: number }[]
  readonly allow_force_push: boolean
  readonly allowed_to_merge: readonly { readonly access_level: number }[]
  readonly developer_can_initial_push?: boolean
}): DefaultProtection {
  const least = (to: readonly { readonly access_level: number }[]) =>
    to.map((one) => one.access_level).reduce((a, b) => (a && b ? Math.min(a, b) : a || b), 0)
  const push = least(roles.allowed_to_push)
  const merge = least(roles.allowed_to_merge)
  const force = roles.allow_force_push
  const open = push === Role.developer && merge === Role.developer && force
  return {
    rule: open ? null : { push, merge, force },
    developersStart: push === Role.developer || roles.developer_can_initial_push === true,
  }
}
