import type { SettingValues } from '../../../access/setting-definitions.ts'
import { matchesPattern } from '../../../base/name-pattern.ts'
import { PatternBudget } from '../../../base/patterns/budget.ts'
import { PatternLimitError, PatternSyntaxError } from '../../../base/patterns/pattern.ts'

type Rules = Pick<
  SettingValues,
  | 'domain_allowlist'
  | 'domain_denylist'
  | 'domain_denylist_enabled'
  | 'email_restrictions'
  | 'email_restrictions_enabled'
>

/** Why people may not sign up with an address: lists of domains with `*`, or a pattern (docs/contract/D §1.26). */
export async function signUpFaults(email: string, rules: Rules): Promise<string[]> {
  const domain = (email.split('@').at(-1) ?? '').toLowerCase()
  const isIn = (list: readonly string[]) =>
    list.some((one) => matchesPattern(one.trim().toLowerCase(), domain))
  if (rules.domain_denylist_enabled && isIn(rules.domain_denylist)) {
    return ['is not from an allowed domain.']
  }
  if (rules.domain_allowlist.length > 0 && !isIn(rules.domain_allowlist)) {
    return ['is not from an allowed domain.']
  }
  const { email_restrictions: pattern } = rules
  if (!rules.email_restrictions_enabled || !pattern) return []
  return (await occursIn(pattern, email)) !== false
    ? ['is not allowed. Please use another address.']
    : []
}

/** Whether a pattern that administrators wrote occurs in a text; a broken pattern occurs nowhere, and undefined is too large a one. */
export async function occursIn(pattern: string, text: string): Promise<boolean | undefined> {
  try {
    return await new PatternBudget().test({ source: pattern, flags: 'i' }, text)
  } catch (error) {
    if (error instanceof PatternSyntaxError) return false
    if (error instanceof PatternLimitError) return undefined
    throw error
  }
}
