import {
  type GroupAbility,
  groupAbilities,
  type InstanceAbility,
  instanceAbilities,
  type ProjectAbility,
  projectAbilities,
  type RecordCondition,
  type Rule,
} from './abilities.ts'
import type { Actor } from './actor.ts'
import { isAdmin, userOf } from './actor.ts'
import { type Feature, type FeatureLevel, featureLevel } from './features.ts'
import { Role, type Visibility } from './roles.ts'

/** What a decision needs to know of a project or group. */
export interface Subject {
  readonly visibility: Visibility
  readonly archived: boolean
  /** The caller's effective role here, 0 for none; administrators have Role.owner. */
  readonly role: number
  readonly settings: Readonly<Record<string, unknown>>
}

/** Whether the caller may know that the subject exists (docs/contract/D §2.4). */
export function maySee(actor: Actor, subject: Pick<Subject, 'visibility' | 'role'>): boolean {
  if (subject.role > 0 || isAdmin(actor)) return true
  if (subject.visibility === 'public') return true
  const user = userOf(actor)
  return subject.visibility === 'internal' && user !== null && !user.external
}

/** The subject as a request of this method is judged: reading is no write, whatever the ability is for (docs/contract/D §2.4). */
export function judgedBy<S extends Subject>(method: string, subject: S): S {
  return method === 'GET' || method === 'HEAD' ? { ...subject, archived: false } : subject
}

function featureAllows(level: FeatureLevel, actor: Actor, role: number): boolean {
  if (level === 'disabled') return false
  return level !== 'private' || role > 0 || isAdmin(actor)
}

/** Which conditions hold between the caller and the record in question; what is left out does not. */
export type Conditions = Readonly<Partial<Record<RecordCondition, boolean>>>

const NO_CONDITIONS: Conditions = {}

/** Whether a condition of the record lets callers of this role, whom the rule alone would refuse. */
function conditionAllows(rule: Rule, role: number, conditions: Conditions): boolean {
  if (!rule.when) return false
  for (const [name, least] of Object.entries(rule.when)) {
    // The keys of `when` are names of conditions.
    if (conditions[name as RecordCondition] === true && role >= least) return true
  }
  return false
}

function isExcluded(rule: Rule, conditions: Conditions): boolean {
  return rule.unless?.some((name) => conditions[name] === true) ?? false
}

function featuresAllow(
  feature: Feature | readonly Feature[],
  actor: Actor,
  subject: Pick<Subject, 'settings' | 'role'>,
): boolean {
  return [feature]
    .flat()
    .some((one) => featureAllows(featureLevel(subject.settings, one), actor, subject.role))
}

function ruleAllows(
  rule: Rule,
  actor: Actor,
  subject: Subject,
  conditions: Conditions = NO_CONDITIONS,
): boolean {
  if (isExcluded(rule, conditions)) return false
  if (rule.write && subject.archived && !rule.archived) return false
  if (rule.feature && !featuresAllow(rule.feature, actor, subject)) return false
  if (isAdmin(actor)) return true
  if (subject.role >= rule.role && subject.role !== rule.except) return true
  if (userOf(actor) && conditionAllows(rule, subject.role, conditions)) return true
  if (!rule.visitor || !visitorMaySee(actor, subject)) return false
  return rule.visitor === 'anyone' || userOf(actor) !== null
}

function visitorMaySee(actor: Actor, subject: Subject): boolean {
  return maySee(actor, { visibility: subject.visibility, role: 0 })
}

/** Whether everybody may do this in the project, also those who do not see it: packages that anybody may pull. */
export function isOpenToAll(
  subject: Pick<Subject, 'settings'>,
  ability: ProjectAbility | undefined,
): boolean {
  return (
    ability === 'read_packages' && featureLevel(subject.settings, 'package_registry') === 'public'
  )
}

/** Whether the caller may do this in the project, or with a record of it of which `conditions` hold. */
export function mayInProject(
  actor: Actor,
  subject: Subject,
  ability: ProjectAbility,
  conditions?: Conditions,
): boolean {
  return (
    ruleAllows(projectAbilities[ability], actor, subject, conditions) ||
    isOpenToAll(subject, ability)
  )
}

/** Whether the caller may do this in the group, or with a record of it of which `conditions` hold. */
export function mayInGroup(
  actor: Actor,
  subject: Subject,
  ability: GroupAbility,
  conditions?: Conditions,
): boolean {
  return ruleAllows(groupAbilities[ability], actor, subject, conditions)
}

/** The same in a group that the caller is known to see: a membership below opens a private one (docs/contract/D §2.3). */
export function mayInSeenGroup(
  actor: Actor,
  subject: Subject,
  ability: GroupAbility,
  conditions?: Conditions,
): boolean {
  const rule: Rule = groupAbilities[ability]
  return rule.seen === true || mayInGroup(actor, subject, ability, conditions)
}

/** Whether the caller may do this with a record of the instance of which `conditions` hold. */
export function mayInInstance(
  actor: Actor,
  ability: InstanceAbility,
  conditions: Conditions = NO_CONDITIONS,
): boolean {
  const rule: Rule = instanceAbilities[ability]
  if (isExcluded(rule, conditions)) return false
  if (isAdmin(actor)) return true
  return (
    userOf(actor) !== null &&
    (rule.role === Role.none || conditionAllows(rule, Role.none, conditions))
  )
}
