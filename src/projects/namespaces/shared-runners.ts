/** What a group says of the runners of the instance, from the loosest word to the strictest (docs/contract/D §1.3). */
export const sharedRunners = [
  'enabled',
  'disabled_and_overridable',
  'disabled_and_unoverridable',
] as const

export type SharedRunners = (typeof sharedRunners)[number]

/** The word among the settings of a group. */
export function sharedRunnersOf(settings: Readonly<Record<string, unknown>>): SharedRunners {
  return sharedRunners.find((word) => word === settings.shared_runners_setting) ?? 'enabled'
}

/** The stricter of two words. */
export function asRestricted(one: SharedRunners, other: SharedRunners): SharedRunners {
  return sharedRunners.indexOf(one) >= sharedRunners.indexOf(other) ? one : other
}
