import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { FEATURES, type Feature } from '../../access/features.ts'
import { recordOf } from '../../base/group-by.ts'
import { slashedPattern } from '../../base/patterns/pattern.ts'
import { flag, integer } from '../../http/params.ts'
import {
  knownValues,
  number,
  onOff,
  optionalNumber,
  optionalRegex,
  optionalText,
  type Setting,
  type SettingValue,
  type SettingValues,
  sentValues,
  setting,
  settingFields,
  settingParams,
  settingValues,
  word,
} from '../namespaces/setting-fields.ts'
import { withImageCleanup } from './image-cleanup.ts'

export type Level = 'disabled' | 'private' | 'enabled'

const level = () => word(['disabled', 'private', 'enabled'], 'enabled')

type LevelKey = `${Exclude<Feature, 'pages'>}_access_level`

const levels = Object.fromEntries(
  FEATURES.filter((feature) => feature !== 'pages').map((feature) => [
    `${feature}_access_level`,
    level(),
  ]),
) as Record<LevelKey, Setting<Level>> // one key for each feature

const MINUTE = 60
const DAY_SECONDS = 86_400

/** Every setting of a project, with the value it has in a new one (docs/contract/D §1.2 Fields). */
export const projectSettings = {
  ...levels,
  package_registry_access_level: word(['disabled', 'private', 'enabled', 'public'], 'enabled'),
  pages_access_level: word(['disabled', 'private', 'enabled', 'public'], 'enabled'),
  emails_enabled: onOff(true),
  resolve_outdated_diff_discussions: onOff(false),
  shared_runners_enabled: onOff(true),
  group_runners_enabled: onOff(true),
  lfs_enabled: onOff(true),
  service_desk_enabled: onOff(false),
  mr_default_target_self: onOff(false),
  ci_config_path: optionalText(255),
  ci_default_git_depth: setting<number | null>(
    integer({ min: 0, max: 1000 }).nullable(),
    z.int().nullable(),
    20,
  ),
  ci_delete_pipelines_in_seconds: optionalNumber(DAY_SECONDS, 365 * DAY_SECONDS),
  ci_forward_deployment_enabled: onOff(true),
  ci_forward_deployment_rollback_allowed: onOff(true),
  ci_job_token_scope_enabled: onOff(false),
  ci_separated_caches: onOff(true),
  ci_allow_fork_pipelines_to_run_in_parent_project: onOff(true),
  ci_pipeline_variables_minimum_override_role: word(
    ['no_one_allowed', 'developer', 'maintainer', 'owner'],
    'developer',
  ),
  ci_push_repository_for_job_token_allowed: onOff(false),
  build_git_strategy: word(['fetch', 'clone'], 'fetch'),
  build_timeout: number(60 * MINUTE, 10 * MINUTE, 30 * DAY_SECONDS),
  build_coverage_regex: optionalRegex({ max: 255, read: slashedPattern }),
  auto_cancel_pending_pipelines: word(['enabled', 'disabled'], 'enabled'),
  auto_devops_enabled: onOff(false),
  auto_devops_deploy_strategy: word(['continuous', 'manual', 'timed_incremental'], 'continuous'),
  keep_latest_artifact: onOff(true),
  restrict_user_defined_variables: onOff(false),
  runner_token_expiration_interval: optionalNumber(0, 2 ** 40),
  public_jobs: onOff(true),
  resource_group_default_process_mode: word(
    ['unordered', 'oldest_first', 'newest_first', 'newest_ready_first'],
    'unordered',
  ),
  only_allow_merge_if_pipeline_succeeds: onOff(false),
  allow_merge_on_skipped_pipeline: onOff(false),
  only_allow_merge_if_all_discussions_are_resolved: onOff(false),
  request_access_enabled: onOff(true),
  remove_source_branch_after_merge: onOff(true),
  printing_merge_request_link_enabled: onOff(true),
  merge_method: word(['merge', 'rebase_merge', 'ff'], 'merge'),
  merge_request_title_regex: optionalRegex({ max: 255 }),
  merge_request_title_regex_description: optionalText(255),
  squash_option: word(['never', 'always', 'default_on', 'default_off'], 'default_off'),
  enforce_auth_checks_on_uploads: onOff(true),
  suggestion_commit_message: optionalText(255),
  merge_commit_template: optionalText(10_000),
  squash_commit_template: optionalText(10_000),
  issue_branch_template: optionalText(255),
  autoclose_referenced_issues: onOff(true),
  warn_about_potentially_unwanted_characters: onOff(true),
  max_artifacts_size: optionalNumber(0, 2 ** 40),
  repository_size_limit: optionalNumber(0, 2 ** 30),
  approvals_before_merge: number(0, 0, 100),
  mirror: onOff(false),
  mirror_trigger_builds: onOff(false),
  only_mirror_protected_branches: onOff(false),
  mirror_overwrites_diverged_branches: onOff(false),
  merge_pipelines_enabled: onOff(false),
  merge_trains_enabled: onOff(false),
  merge_trains_skip_train_allowed: onOff(false),
  allow_pipeline_trigger_approve_deployment: onOff(false),
  external_authorization_classification_label: optionalText(255),
  issues_template: optionalText(100_000),
  merge_requests_template: optionalText(100_000),
  prevent_merge_without_jira_issue: onOff(false),
} as const

export type ProjectSettings = typeof projectSettings
export type ProjectSettingName = keyof ProjectSettings
export type ProjectSettingValue<K extends ProjectSettingName> = SettingValue<ProjectSettings[K]>
export type ProjectSettingValues = SettingValues<ProjectSettings>

const names = Object.keys(projectSettings) as ProjectSettingName[]

/** One setting of a project: what was set, else the preset. */
export function projectSetting<K extends ProjectSettingName>(
  project: { readonly settings: Readonly<Record<string, unknown>> },
  name: K,
): ProjectSettingValue<K> {
  const { settings } = project
  // Only values that passed the setting's own parameter are stored under its name.
  return (
    name in settings ? settings[name] : projectSettings[name].preset
  ) as ProjectSettingValue<K>
}

const known = new LRUCache<string, ProjectSettingValues>({ max: 500 })

/**
 * Every setting of a row's own JSON text, presets filled in. Worked out once for all projects that have the same, most of which
 * share a few: to be copied, never changed.
 */
export function settingsOfRow(text: string): ProjectSettingValues {
  const found = known.get(text)
  if (found) return found
  const stored = JSON.parse(text) as Record<string, unknown> // written by us
  const values = settingValues(projectSettings, stored)
  known.set(text, values)
  return values
}

/** Booleans that older clients send; they and the access levels set each other (docs/contract/D §1.2 Rules). */
const legacyFlags = {
  issues_enabled: 'issues_access_level',
  merge_requests_enabled: 'merge_requests_access_level',
  wiki_enabled: 'wiki_access_level',
  jobs_enabled: 'builds_access_level',
  snippets_enabled: 'snippets_access_level',
  container_registry_enabled: 'container_registry_access_level',
  packages_enabled: 'package_registry_access_level',
} as const satisfies Record<string, LevelKey>

type LegacyFlag = keyof typeof legacyFlags
const legacyNames = Object.keys(legacyFlags) as LegacyFlag[]

/** Fields of the answer for them. */
export const legacyFields = recordOf(legacyNames, () => z.boolean())

/** Whether each of these features is on. */
export function legacyValues(settings: Readonly<Record<string, unknown>>) {
  return recordOf(legacyNames, (name) => settings[legacyFlags[name]] !== 'disabled')
}

/** Body parameters of creation and update. */
export const projectSettingParams = settingParams(projectSettings)

/** Older names of settings, and the booleans of features. */
export const legacyParams = {
  ...recordOf(legacyNames, () => flag().optional()),
  builds_enabled: flag().optional(),
  public_builds: flag().optional(),
  emails_disabled: flag().optional(),
} as const

/** Fields of the answer. */
export const projectSettingFields = settingFields(projectSettings)

/** The settings that a request sent, under their own names, older names resolved; what it did not send is absent. */
export function sentSettings(
  body: Readonly<Record<string, unknown>>,
  sent: ReadonlySet<string>,
): Record<string, unknown> {
  const found = sentByOlderNames(body, sent)
  const cleanup = body.container_expiration_policy_attributes
  if (cleanup !== undefined && cleanup !== null) found.container_expiration_policy = cleanup
  // A level that is sent beside its boolean wins.
  return { ...found, ...sentValues(projectSettings, body, sent) }
}

function sentByOlderNames(
  body: Readonly<Record<string, unknown>>,
  sent: ReadonlySet<string>,
): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const [flagName, levelName] of Object.entries(legacyFlags)) {
    if (sent.has(flagName)) found[levelName] = body[flagName] === true ? 'enabled' : 'disabled'
  }
  if (sent.has('builds_enabled')) {
    found.builds_access_level = body.builds_enabled === true ? 'enabled' : 'disabled'
  }
  if (sent.has('public_builds')) found.public_jobs = body.public_builds
  if (sent.has('emails_disabled')) found.emails_enabled = body.emails_disabled !== true
  return found
}

/** Stored settings after a change: deviations only, so that a preset stays what it is. */
export function changedSettings(
  stored: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = withImageCleanup(stored, { ...stored, ...changes })
  for (const name of names) {
    if (name in merged && merged[name] === projectSettings[name].preset) delete merged[name]
  }
  return merged
}

/** Those of foreign settings, such as an archive's, that are ours and have values that we would take. */
export function knownSettings(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return knownValues(projectSettings, given)
}
