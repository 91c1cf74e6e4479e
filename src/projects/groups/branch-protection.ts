import { z } from 'zod'
import { Role } from '../../access/roles.ts'
import { flag, hash, list, oneOfNumbers } from '../../http/params.ts'

const { none, developer, maintainer, admin } = Role
const level = hash({ access_level: oneOfNumbers([none, developer, maintainer, admin]) })

/** How the first branch of new projects is protected, as a group says it (docs/contract/D §1.3 Fields). */
export const branchProtectionParam = hash({
  allowed_to_push: list(level, { max: 10 }).optional(),
  allow_force_push: flag().optional(),
  allowed_to_merge: list(level, { max: 10 }).optional(),
  developer_can_initial_push: flag().optional(),
})

const levels = z.array(z.strictObject({ access_level: z.int() }))

export const branchProtectionEntity = z.strictObject({
  allowed_to_push: levels,
  allow_force_push: z.boolean(),
  allowed_to_merge: levels,
  developer_can_initial_push: z.boolean().default(false),
})

export type BranchProtection = z.infer<typeof branchProtectionEntity>

/** What a level of `default_branch_protection` means (docs/contract/D §1.3 Fields). */
export function protectionOf(number: number): BranchProtection {
  const allowed = (push: number, merge: number) => ({
    allowed_to_push: [{ access_level: push }],
    allow_force_push: false,
    allowed_to_merge: [{ access_level: merge }],
    developer_can_initial_push: false,
  })
  if (number === 0) return { ...allowed(developer, developer), allow_force_push: true }
  if (number === 1) return allowed(developer, maintainer)
  if (number === 3) return allowed(maintainer, developer)
  return { ...allowed(maintainer, maintainer), developer_can_initial_push: number === 4 }
}

/** The level that says the same, or comes nearest. */
function levelOf(wanted: BranchProtection): number {
  const text = JSON.stringify(wanted)
  const same = [0, 1, 2, 3, 4].find((number) => JSON.stringify(protectionOf(number)) === text)
  if (same !== undefined) return same
  const opens = (to: BranchProtection['allowed_to_push']) =>
    to.some(({ access_level }) => access_level === developer)
  if (opens(wanted.allowed_to_push)) return 1
  return opens(wanted.allowed_to_merge) ? 3 : 2
}

/** Both settings after a request that sent one of them: they are about the same. */
export function sentProtection(
  sent: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const given = sent.default_branch_protection_defaults as
    | z.infer<typeof branchProtectionParam>
    | null
    | undefined
  if (!given) {
    return 'default_branch_protection' in sent ? { default_branch_protection_defaults: null } : {}
  }
  const full = protectionOf(2)
  const wanted: BranchProtection = {
    allowed_to_push: given.allowed_to_push ?? full.allowed_to_push,
    allow_force_push: given.allow_force_push ?? full.allow_force_push,
    allowed_to_merge: given.allowed_to_merge ?? full.allowed_to_merge,
    developer_can_initial_push: given.developer_can_initial_push ?? false,
  }
  return {
    default_branch_protection: levelOf(wanted),
    default_branch_protection_defaults: wanted,
  }
}
