import { RE2JS } from 're2js'
import type { SettingValues } from '../../../access/setting-definitions.ts'
import { matchesPattern } from '../../../base/name-pattern.ts'

type Rules = Pick<
  SettingValues,
  | 'domain_allowlist'
  | 'domain_denylist'
  | 'domain_denylist_enabled'
  | 'email_restrictions'
  | 'email_restrictions_enabled'
>

/** Why people may not sign up with an address: lists of domains with `*`, or a pattern (docs/contract/D §1.26). */
export function signUpFaults(email: string, rules: Rules): string[] {
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
  return matchesText(pattern, email) ? ['is not allowed. Please use another address.'] : []
}

/** Whether a pattern that administrators wrote occurs in a text; a broken pattern occurs nowhere. */
export function matchesText(pattern: string, text: string): boolean {
  try {
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).matcher(text).find()
  } catch {
    return false
  }
}
