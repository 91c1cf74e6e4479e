/** What a rule comes to, before anybody looks at who approved. */
export interface EligibleRule {
  readonly id: number | null
  readonly required: number
  /** Who may satisfy it. */
  readonly eligible: ReadonlySet<number>
}

export interface RuleVerdict {
  readonly approvedBy: readonly number[]
  readonly approved: boolean
  readonly left: number
}

/**
 * Whether a rule is satisfied: enough of its people approved, or nobody is left who still could, which counts as
 * approved (docs/contract/B-resolved §8.3). One approval counts in every rule its giver belongs to.
 */
export function judgeRule(rule: EligibleRule, approvers: readonly number[]): RuleVerdict {
  const approvedBy = approvers.filter((id) => rule.eligible.has(id))
  const left = Math.max(0, rule.required - approvedBy.length)
  const couldStill = rule.eligible.size - approvedBy.length
  return { approvedBy, left, approved: left === 0 || couldStill === 0 }
}
