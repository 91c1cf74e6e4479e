/** Keys at the top that are no jobs (docs/contract/D §5.1). */
export const TOP_KEYS: ReadonlySet<string> = new Set([
  'default',
  'include',
  'variables',
  'stages',
  'types',
  'workflow',
  'image',
  'services',
  'cache',
  'before_script',
  'after_script',
  'spec',
])

/** What `default:` may say for all jobs (docs/contract/D §5.1). */
export const DEFAULT_KEYS = [
  'after_script',
  'artifacts',
  'before_script',
  'cache',
  'hooks',
  'id_tokens',
  'image',
  'interruptible',
  'retry',
  'services',
  'tags',
  'timeout',
] as const

/** Keys that the server stores for the runner, or for what comes after a job. */
export const OPTION_KEYS = [
  'before_script',
  'script',
  'after_script',
  'image',
  'services',
  'artifacts',
  'cache',
  'retry',
  'dependencies',
  'hooks',
  'id_tokens',
  'secrets',
  'release',
  'run',
  'trigger',
  'pages',
  'publish',
  'manual_confirmation',
  'identity',
  'inputs',
] as const

/** What a job cannot say that starts a pipeline: no runner sees it (docs/contract/D §5.2 trigger). */
export const NOT_OF_BRIDGES: ReadonlySet<string> = new Set(
  OPTION_KEYS.filter((key) => !['trigger', 'manual_confirmation', 'inputs'].includes(key)),
)

/** Everything a job may say (docs/contract/D §5.2). */
export const JOB_KEYS: ReadonlySet<string> = new Set([
  ...OPTION_KEYS,
  'stage',
  'variables',
  'tags',
  'rules',
  'only',
  'except',
  'when',
  'start_in',
  'allow_failure',
  'needs',
  'timeout',
  'parallel',
  'extends',
  'inherit',
  'environment',
  'resource_group',
  'interruptible',
  'coverage',
  'dast_configuration',
])

export const WHEN = ['on_success', 'on_failure', 'always', 'manual', 'delayed', 'never'] as const
export type When = (typeof WHEN)[number]

export const DEFAULT_STAGES = ['.pre', 'build', 'test', 'deploy', '.post'] as const
