import { z } from 'zod'
import { badParameters, notFound, unprocessable } from '../../base/problem.ts'
import { fault, hash, id, integer, list, oneOfNumbers, parameter } from '../../http/params.ts'
import {
  describeLevel,
  destroy,
  type LevelChanges,
  SOME_LEVEL,
} from '../../repositories/protections/levels.ts'

export type Kind = 'deploy' | 'approval'

/** Who may deploy or approve, as it is stored. */
export interface EnvironmentTarget {
  readonly access_level: number | null
  readonly user_id: number | null
  readonly group_id: number | null
  readonly group_inheritance_type: number
  readonly required_approvals: number
}

export interface EnvironmentLevelRow extends EnvironmentTarget {
  readonly id: number
  readonly protected_environment_id: number
  readonly kind: Kind
  readonly user_name: string | null
  readonly group_name: string | null
}

const shared = {
  id: z.int(),
  access_level: z.int().nullable(),
  access_level_description: z.string(),
  user_id: z.int().nullable(),
  group_id: z.int().nullable(),
  group_inheritance_type: z.int(),
}
export const deployLevelEntity = z.strictObject(shared)
export const approvalRuleEntity = z.strictObject({ ...shared, required_approvals: z.int() })

export function presentDeployLevel(row: EnvironmentLevelRow): z.input<typeof deployLevelEntity> {
  return {
    id: row.id,
    access_level: row.access_level,
    access_level_description: describeLevel(row),
    user_id: row.user_id,
    group_id: row.group_id,
    group_inheritance_type: row.group_inheritance_type,
  }
}

export function presentApprovalRule(row: EnvironmentLevelRow): z.input<typeof approvalRuleEntity> {
  return { ...presentDeployLevel(row), required_approvals: row.required_approvals }
}

const element = {
  id: id().optional(),
  _destroy: destroy.optional(),
  access_level: oneOfNumbers(SOME_LEVEL).nullish(),
  user_id: id().nullish(),
  group_id: id().nullish(),
  group_inheritance_type: oneOfNumbers([0, 1]).optional(),
}
const most = { max: 200 }
export const deployLevels = list(hash(element), most)
export const approvalRules = list(
  hash({ ...element, required_approvals: integer({ min: 0, max: 10_000 }).optional() }),
  most,
)
/** As `deployLevels`, with something in it. */
export const filledDeployLevels = parameter<z.infer<typeof deployLevels>>(
  { type: 'array', items: { type: 'object' }, minItems: 1 },
  (raw) => {
    const read = deployLevels.safeParse(raw)
    if (!read.success) return fault.says(read.error.issues[0]?.message ?? 'is invalid')
    return read.data.length === 0 ? fault.says('is empty') : read.data
  },
)

export type EnvironmentLevelInput = z.infer<typeof approvalRules>[number]

const keys = ['user_id', 'group_id', 'access_level'] as const

/** 400 for rules that name nobody at all; one that names only nulls gets as far as the model (docs/contract/B-resolved §9.3). */
export function assertRulesName(levels: readonly EnvironmentLevelInput[]): void {
  const isBare = (given: EnvironmentLevelInput) =>
    given.id === undefined && keys.every((key) => given[key] === undefined)
  if (levels.some(isBare)) {
    throw badParameters(
      'user_id, group_id, access_level are missing, at least one parameter must be provided',
    )
  }
}

/** The stored level with what an element says of it; a new one begins with nobody. */
function merged(
  known: EnvironmentLevelRow | undefined,
  given: EnvironmentLevelInput,
): EnvironmentTarget {
  const pick = (key: (typeof keys)[number]) =>
    given[key] === undefined ? (known?.[key] ?? null) : given[key]
  return {
    access_level: pick('access_level'),
    user_id: pick('user_id'),
    group_id: pick('group_id'),
    group_inheritance_type: given.group_inheritance_type ?? known?.group_inheritance_type ?? 0,
    required_approvals: given.required_approvals ?? known?.required_approvals ?? 1,
  }
}

/** What a list of elements changes. A change of who is meant must null who was: exactly one may be named. */
export function planEnvironmentLevels(
  known: readonly EnvironmentLevelRow[],
  levels: readonly EnvironmentLevelInput[],
  what: string,
): LevelChanges<EnvironmentTarget> {
  const remove: number[] = []
  const change: { id: number; target: EnvironmentTarget }[] = []
  const add: EnvironmentTarget[] = []
  for (const given of levels) {
    const row = known.find((level) => level.id === given.id)
    if (given.id !== undefined && !row) throw notFound()
    if (row && given._destroy) {
      remove.push(row.id)
      continue
    }
    const target = merged(row, given)
    if (keys.filter((key) => target[key] !== null).length !== 1) {
      throw unprocessable([`${what} must name either a user, a group or an access level`])
    }
    if (row) change.push({ id: row.id, target })
    else add.push(target)
  }
  return { remove, change, add }
}
