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

/** Features that show or copy the code: none is more open than the repository. */
export const CODE_FEATURES: readonly Feature[] = ['merge_requests', 'builds', 'forking']

/** The level at which a feature of a project counts; what was never set is enabled. */
export function featureLevel(
  settings: Readonly<Record<string, unknown>>,
  feature: Feature,
): FeatureLevel {
  const own = storedLevel(settings, feature)
  if (!CODE_FEATURES.includes(feature)) return own
  const code = storedLevel(settings, 'repository')
  return code === 'disabled' || (code === 'private' && own !== 'disabled') ? code : own
}

function storedLevel(settings: Readonly<Record<string, unknown>>, feature: Feature): FeatureLevel {
  const level = settings[`${feature}_access_level`]
  return level === 'disabled' || level === 'private' || level === 'public' ? level : 'enabled'
}
