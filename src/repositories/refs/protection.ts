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

/** How a default branch is protected when it is first pushed (docs/contract/A, `default_branch_protection`). */
export const DefaultProtection = {
  none: 0,
  developersPush: 1,
  maintainersOnly: 2,
  developersMerge: 3,
  developersStart: 4,
} as const

/** The rule that a level of default protection stands for, or none. */
export function defaultRule(level: number): { push: number; merge: number; force: boolean } | null {
  const { maintainer, developer } = Role
  if (level === DefaultProtection.none) return null
  if (level === DefaultProtection.developersPush) {
    return { push: developer, merge: maintainer, force: false }
  }
  if (level === DefaultProtection.developersMerge) {
    return { push: maintainer, merge: developer, force: false }
  }
  return { push: maintainer, merge: maintainer, force: false }
}
