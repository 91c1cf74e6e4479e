import {
  type GroupAbility,
  groupAbilities,
  type ProjectAbility,
  projectAbilities,
  type Rule,
} from './abilities.ts'
import type { Actor } from './actor.ts'
import { isAdmin, userOf } from './actor.ts'
import { type FeatureLevel, featureLevel } from './features.ts'
import { Role, type Visibility } from './roles.ts'

/** What a decision needs to know of a project or group. */
export interface Subject {
  readonly visibility: Visibility
  readonly archived: boolean
  /** The caller's effective role here, 0 for none; administrators have Role.owner. */
  readonly role: number
  readonly settings: Readonly<Record<string, unknown>>
}

/** Whether the caller may know that the subject exists (spec D §2.4). */
export function maySee(actor: Actor, subject: Pick<Subject, 'visibility' | 'role'>): boolean {
  if (subject.role > 0 || isAdmin(actor)) return true
  if (subject.visibility === 'public') return true
  const user = userOf(actor)
  return subject.visibility === 'internal' && user !== null && !user.external
}

function featureAllows(level: FeatureLevel, actor: Actor, role: number): boolean {
  if (level === 'disabled') return false
  return level !== 'private' || role > 0 || isAdmin(actor)
}

function ruleAllows(rule: Rule, actor: Actor, subject: Subject): boolean {
  if (rule.write && subject.archived && !rule.archived) return false
  if (
    rule.feature &&
    !featureAllows(featureLevel(subject.settings, rule.feature), actor, subject.role)
  )
    return false
  if (isAdmin(actor)) return true
  if (subject.role >= rule.role && subject.role !== rule.except) return true
  if (!rule.visitor || !visitorMaySee(actor, subject)) return false
  return rule.visitor === 'anyone' || userOf(actor) !== null
}

function visitorMaySee(actor: Actor, subject: Subject): boolean {
  return maySee(actor, { visibility: subject.visibility, role: 0 })
}

/** Whether the caller may do this in the project. */
export function mayInProject(actor: Actor, subject: Subject, ability: ProjectAbility): boolean {
  const rule: Rule = projectAbilities[ability]
  if (rule.role === Role.admin) return isAdmin(actor)
  return ruleAllows(rule, actor, subject)
}

/** Whether the caller may do this in the group. */
export function mayInGroup(actor: Actor, subject: Subject, ability: GroupAbility): boolean {
  return ruleAllows(groupAbilities[ability], actor, subject)
}
