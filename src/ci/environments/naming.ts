import { createHash } from 'node:crypto'
import type { Tier } from '../../store/schema/environments.ts'

const NAME = /^[\w\s${}./-]{1,255}$/
const LONGEST_SLUG = 24

export function isEnvironmentName(name: string): boolean {
  return NAME.test(name) && !name.startsWith('/') && !name.endsWith('/')
}

/** A name as part of host names: at most 24 characters; where letters were lost, a hash of the name keeps it apart. */
export function environmentSlug(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  const started = /^[a-z]/.test(plain) ? plain : `env-${plain}`
  if (started === name && started.length <= LONGEST_SLUG) return started
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 6)
  return `${started.slice(0, LONGEST_SLUG - 7).replace(/-+$/, '')}-${hash}`
}

const TIERS: readonly (readonly [RegExp, Tier])[] = [
  [/dev|review|trunk/i, 'development'],
  [/test|tst|int|ac(ce|)pt|qa|qc|control|quality/i, 'testing'],
  [/st(a|)g|mod(e|)l|pre|demo|non/i, 'staging'],
  [/pr(o|)d|live/i, 'production'],
]

/** The tier that the name of an environment suggests, by default. */
export function tierOf(name: string, given: unknown): Tier {
  const known = ['production', 'staging', 'testing', 'development', 'other'] as const
  const found = known.find((tier) => tier === given)
  return found ?? TIERS.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
}
