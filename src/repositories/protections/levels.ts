import { z } from 'zod'
import { Role } from '../../access/roles.ts'
import { notFound, unprocessable } from '../../base/problem.ts'
import { hash, id, oneOfNumbers, parameter } from '../../http/params.ts'
import type { Level } from '../refs/protection.ts'

/** A level in its table, with the name of whom it means. */
export interface LevelRow extends Level {
  readonly id: number
  readonly user_name: string | null
  readonly group_name: string | null
  readonly key_title: string | null
}

/** An element of `allowed_to_push` and its kin: without `id` it adds, with `id` it changes, with `_destroy` it removes. */
export interface LevelInput {
  readonly id?: number | undefined
  readonly _destroy?: boolean | undefined
  readonly access_level?: number | null | undefined
  readonly user_id?: number | null | undefined
  readonly group_id?: number | null | undefined
  readonly deploy_key_id?: number | null | undefined
}

export interface LevelChanges<T = Level> {
  readonly remove: readonly number[]
  readonly change: readonly { readonly id: number; readonly target: T }[]
  readonly add: readonly T[]
}

/** What the levels are called on the wire (docs/contract/B-resolved §9.1). */
const names: Readonly<Record<number, string>> = {
  [Role.none]: 'No one',
  [Role.developer]: 'Developers + Maintainers',
  [Role.maintainer]: 'Maintainers',
  [Role.admin]: 'Administrators',
}

export const ANY_LEVEL = [0, 30, 40, 60] as const
/** Levels of those who may do something; unprotecting can't be left to nobody. */
export const SOME_LEVEL = [30, 40, 60] as const

export const levelEntity = z.strictObject({
  id: z.int(),
  access_level: z.int().nullable(),
  access_level_description: z.string(),
  user_id: z.int().nullable(),
  group_id: z.int().nullable(),
})

/** Keys push branches and create tags; they are no part of other levels (docs/contract/B). */
export const keyLevelEntity = levelEntity.extend({ deploy_key_id: z.int().nullable() })

export function describeLevel(
  row: Pick<LevelRow, 'access_level' | 'user_name' | 'group_name'> & Partial<LevelRow>,
): string {
  return (
    row.user_name ?? row.group_name ?? row.key_title ?? names[row.access_level ?? Role.none] ?? ''
  )
}

export function presentLevel(row: LevelRow): z.input<typeof levelEntity> {
  return {
    id: row.id,
    access_level: row.access_level,
    access_level_description: describeLevel(row),
    user_id: row.user_id,
    group_id: row.group_id,
  }
}

export function presentKeyLevel(row: LevelRow): z.input<typeof keyLevelEntity> {
  return { ...presentLevel(row), deploy_key_id: row.deploy_key_id }
}

/** A flag inside an element; null and what is not said are false. */
export const destroy = parameter<boolean>({ type: 'boolean' }, (raw) =>
  ['true', '1'].includes(String(raw).toLowerCase()),
)

export function levelInput(levels: readonly number[]): z.ZodType<LevelInput> {
  return hash({
    id: id().optional(),
    _destroy: destroy.optional(),
    access_level: oneOfNumbers(levels).nullish(),
    user_id: id().nullish(),
    group_id: id().nullish(),
    deploy_key_id: id().nullish(),
  })
}

const keys = ['user_id', 'group_id', 'deploy_key_id', 'access_level'] as const

/** Whom an element means, or undefined when it names nobody. The most specific wins. */
export function targetOf(given: LevelInput): Level | undefined {
  const key = keys.find((one) => given[one] !== undefined && given[one] !== null)
  if (key === undefined) return undefined
  return { ...roleTarget(null), [key]: given[key] ?? null }
}

function roleTarget(level: number | null): Level {
  return { access_level: level, user_id: null, group_id: null, deploy_key_id: null }
}

function sameTarget(a: Level, b: Level): boolean {
  return keys.every((key) => a[key] === b[key])
}

function labelOf(target: Level): string {
  if (target.user_id !== null) return 'user'
  if (target.group_id !== null) return 'group'
  return target.deploy_key_id === null ? 'access level' : 'deploy key'
}

/**
 * What a list of elements changes in the levels that are there. `what` begins the sentences of 422, such as `Push
 * access levels`; an unknown `id` is 404.
 */
export function planLevels(
  known: readonly (Level & { readonly id: number })[],
  levels: readonly LevelInput[],
  what: string,
): LevelChanges {
  const after = new Map<number | string, Level>(known.map((level) => [level.id, level]))
  const remove: number[] = []
  const change: { id: number; target: Level }[] = []
  const add: Level[] = []
  const ids = new Set(known.map((level) => level.id))
  if (levels.some((given) => given.id !== undefined && !ids.has(given.id))) throw notFound()
  for (const [at, given] of levels.entries()) {
    if (given.id === undefined) {
      const target = targetOf(given)
      if (!target) throw unprocessable([`${what} access level can't be blank`])
      add.push(target)
      after.set(`new ${at}`, target)
    } else if (given._destroy) {
      remove.push(given.id)
      after.delete(given.id)
    } else {
      const target = targetOf(given)
      if (!target) continue
      change.push({ id: given.id, target })
      after.set(given.id, target)
    }
  }
  refuseTwice([...after.values()], what)
  return { remove, change, add }
}

function refuseTwice(levels: readonly Level[], what: string): void {
  const twice = levels.find((level, at) =>
    levels.slice(0, at).some((earlier) => sameTarget(earlier, level)),
  )
  if (twice) throw unprocessable([`${what} ${labelOf(twice)} has already been taken`])
}
