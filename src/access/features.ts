/** Features of a project that can be switched off or kept to its members (docs/contract/D §1.2 Fields). */
export const FEATURES = [
  'issues',
  'repository',
  'merge_requests',
  'forking',
  'wiki',
  'builds',
  'snippets',
  'pages',
  'analytics',
  'container_registry',
  'security_and_compliance',
  'releases',
  'environments',
  'feature_flags',
  'infrastructure',
  'monitor',
  'model_experiments',
  'model_registry',
  'requirements',
  'package_registry',
] as const

export type Feature = (typeof FEATURES)[number]
export type FeatureLevel = 'disabled' | 'private' | 'enabled' | 'public'

/** The level of one feature in a project's stored settings; what was never set is enabled. */
export function featureLevel(
  settings: Readonly<Record<string, unknown>>,
  feature: Feature,
): FeatureLevel {
  const level = settings[`${feature}_access_level`]
  return level === 'disabled' || level === 'private' || level === 'public' ? level : 'enabled'
}
