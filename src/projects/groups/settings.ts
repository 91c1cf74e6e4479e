import { z } from 'zod'
import { flag, integer, oneOf } from '../../http/params.ts'
import {
  knownValues,
  number,
  onOff,
  optionalNumber,
  optionalText,
  sentValues,
  setting,
  settingParams,
  word,
} from '../namespaces/setting-fields.ts'
import { type SharedRunners, sharedRunners } from '../namespaces/shared-runners.ts'
import {
  type BranchProtection,
  branchProtectionEntity,
  branchProtectionParam,
  sentProtection,
} from './branch-protection.ts'

const optionalFlag = setting<boolean | null>(flag(), z.boolean().nullable(), null)

/** What `disabled_and_overridable` was called before. */
const OLDER_WORD = 'disabled_with_override'

/** Settings of a group that stand in its JSON, with the value they have in a new one (docs/contract/D §1.3 Fields). */
export const groupSettings = {
  require_two_factor_authentication: onOff(false),
  two_factor_grace_period: number(48, 0, 100_000),
  auto_devops_enabled: optionalFlag,
  emails_enabled: onOff(true),
  mentions_disabled: optionalFlag,
  lfs_enabled: onOff(true),
  wiki_access_level: word(['disabled', 'private', 'enabled'], 'enabled'),
  math_rendering_limits_enabled: onOff(true),
  lock_math_rendering_limits_enabled: onOff(false),
  default_branch: optionalText(255),
  default_branch_protection: setting(integer({ min: 0, max: 4 }), z.int(), 2),
  default_branch_protection_defaults: setting<BranchProtection | null>(
    branchProtectionParam as unknown as z.ZodType<BranchProtection | null>, // completed by sentProtection
    branchProtectionEntity.nullable(),
    null,
  ),
  shared_runners_setting: setting<SharedRunners>(
    oneOf([...sharedRunners, OLDER_WORD]) as z.ZodType<SharedRunners>, // the older word is resolved by sentGroupSettings
    z.enum(sharedRunners),
    'enabled',
  ),
  max_artifacts_size: optionalNumber(0, 2 ** 40),
  repository_size_limit: optionalNumber(0, 2 ** 30),
} as const

/** Settings that only a single read shows. */
export const groupDetailSettings = {
  prevent_sharing_groups_outside_hierarchy: onOff(false),
  prevent_forking_outside_group: optionalFlag,
  shared_runners_minutes_limit: optionalNumber(0, 2 ** 40),
  extra_shared_runners_minutes_limit: optionalNumber(0, 2 ** 40),
  ip_restriction_ranges: optionalText(10_000),
} as const

const all = { ...groupSettings, ...groupDetailSettings }

/** Settings that are columns. */
const columnParams = {
  project_creation_level: oneOf([
    'noone',
    'owner',
    'maintainer',
    'developer',
    'administrator',
  ]).optional(),
  subgroup_creation_level: oneOf(['owner', 'maintainer']).optional(),
  share_with_group_lock: flag().optional(),
  request_access_enabled: flag().optional(),
  membership_lock: flag().optional(),
} as const

export type GroupColumns = {
  readonly [K in keyof typeof columnParams]?: z.infer<(typeof columnParams)[K]>
}

/** Body parameters of creation and update, older names among them. */
export const groupSettingParams = {
  ...settingParams(all),
  emails_disabled: flag().optional(),
  ...columnParams,
} as const

/** The settings that a request sent for the group's JSON; what it did not send is absent. */
export function sentGroupSettings(
  body: Readonly<Record<string, unknown>>,
  sent: ReadonlySet<string>,
): Record<string, unknown> {
  const older = sent.has('emails_disabled') ? { emails_enabled: body.emails_disabled !== true } : {}
  const values = sentValues(all, body, sent)
  if (values.shared_runners_setting === OLDER_WORD)
    values.shared_runners_setting = 'disabled_and_overridable'
  return { ...older, ...values, ...sentProtection(values) }
}

/** Settings that are columns, as a request sent them; what it did not send is absent. */
export function sentGroupColumns(body: GroupColumns): GroupColumns {
  const names = Object.keys(columnParams) as (keyof GroupColumns)[]
  const given = names.filter((name) => body[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, body[name]]))
}

/** What `default_project_creation` of the application settings stands for. */
const CREATION_LEVELS = ['noone', 'maintainer', 'developer', 'administrator', 'owner'] as const

/** Who may create projects in a group of which nobody said it. */
export function presetCreationLevel(
  number: number,
): NonNullable<GroupColumns['project_creation_level']> {
  return CREATION_LEVELS[number] ?? 'developer'
}

/** Those of foreign settings, such as an archive's, that are ours and have values that we would take. */
export function knownGroupSettings(
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return knownValues(all, given)
}
