import { z } from 'zod'

/** Levels of a membership by the words in which people write them. */
const roles = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const

const name = z.string().regex(/^[a-z][a-z0-9_-]{0,49}$/, 'expected a short lower-case word')
const text = z.string().min(1).max(2000)
const groupNames = z.array(text).max(1000)

/** What an operator says of everybody who comes by one provider. */
export const commonFields = {
  /** Stands in addresses and in the identities of users: never changed once somebody has signed in. */
  name,
  /** What people read on the button. */
  label: text.optional(),
  /** What happens when somebody comes who has no account here. */
  sign_up: z.enum(['off', 'approval', 'allowed']).default('off'),
  /** Only members of one of these groups may sign in; without a list, everybody. */
  allowed_groups: groupNames.default([]),
  /** Members of these groups are administrators, and nobody else who comes by this provider. */
  administrators: groupNames.optional(),
  /** What members of a group of the provider get here. */
  groups: z
    .record(z.string(), z.array(z.strictObject({ group: text, role: z.enum(roles) })).max(100))
    .default({}),
} as const

const common = z.object(commonFields)

/** What all kinds of providers have alike. */
export type SignInProvider = Readonly<z.output<typeof common>>

export type ProviderRole = (typeof roles)[number]

/** The button's text. */
export function labelOf({ label, name }: Pick<SignInProvider, 'label' | 'name'>): string {
  return label ?? name
}
