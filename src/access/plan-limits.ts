import type { InstanceSettings } from './instance-settings.ts'

/** Limits of a plan; 0 is no limit. */
export const planLimits = {
  ci_instance_level_variables: 25,
  ci_pipeline_size: 0,
  ci_active_jobs: 0,
  ci_project_subscriptions: 2,
  ci_pipeline_schedules: 50,
  ci_needs_size_limit: 50,
  ci_registered_group_runners: 1000,
  ci_registered_project_runners: 1000,
  conan_max_file_size: 3_221_225_472,
  dotenv_size: 16_384,
  dotenv_variables: 150,
  enforcement_limit: 0,
  generic_packages_max_file_size: 5_368_709_120,
  helm_max_file_size: 5_242_880,
  maven_max_file_size: 3_221_225_472,
  notification_limit: 0,
  npm_max_file_size: 524_288_000,
  nuget_max_file_size: 524_288_000,
  pipeline_hierarchy_size: 1000,
  pypi_max_file_size: 3_221_225_472,
  storage_size_limit: 0,
  terraform_module_max_file_size: 1_073_741_824,
} as const

/** The settings document that holds what administrators have changed of them. */
export const PLAN_LIMITS = 'plan_limits'

/** A limit as administrators have it now; 0 is no limit. */
export function planLimit(
  settings: Pick<InstanceSettings, 'document'>,
  name: keyof typeof planLimits,
): number {
  const changed = settings.document(PLAN_LIMITS) as Partial<Record<string, number>> | undefined // numbers, checked when saved
  return changed?.[name] ?? planLimits[name]
}
