import { z } from 'zod'
import { flag, integer, oneOf } from '../../http/params.ts'
import {
  number,
  onOff,
  optionalNumber,
  optionalText,
  type Setting,
  setting,
  word,
} from '../namespaces/setting-fields.ts'

const optionalFlag = setting<boolean | null>(flag(), z.boolean().nullable(), null)

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
  shared_runners_setting: word(
    ['enabled', 'disabled_and_overridable', 'disabled_and_unoverridable'],
    'enabled',
  ),
  max_artifacts_size: optionalNumber(0, 2 ** 40),
} as const

/** Settings that only a single read shows. */
export const groupDetailSettings = {
  prevent_sharing_groups_outside_hierarchy: onOff(false),
  prevent_forking_outside_group: setting<boolean | null>(flag(), z.boolean().nullable(), null),
  shared_runners_minutes_limit: optionalNumber(0, 2 ** 40),
  extra_shared_runners_minutes_limit: optionalNumber(0, 2 ** 40),
  ip_restriction_ranges: optionalText(10_000),
} as const

const all = { ...groupSettings, ...groupDetailSettings }

export type GroupSettings = typeof all
export type GroupSettingName = keyof GroupSettings
export type GroupSettingValue<K extends GroupSettingName> =
  GroupSettings[K] extends Setting<infer T> ? T : never

const names = Object.keys(all) as GroupSettingName[]

type Values<S extends Record<string, Setting<unknown>>> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never
}
type Wires<S extends Record<string, Setting<unknown>>> = {
  readonly [K in keyof S]: z.ZodType<Values<S>[K]>
}

/** The values of a table's settings in a group, presets filled in. */
export function settingValues<S extends Record<string, Setting<unknown>>>(
  table: S,
  settings: Readonly<Record<string, unknown>>,
): Values<S> {
  const pairs = Object.entries(table).map(([name, one]) => [
    name,
    name in settings ? settings[name] : one.preset,
  ])
  return Object.fromEntries(pairs) as Values<S> // made of exactly these names
}

/** Fields of the answer for a table of settings. */
export function settingFields<S extends Record<string, Setting<unknown>>>(table: S): Wires<S> {
  const pairs = Object.entries(table).map(([name, one]) => [name, one.wire])
  return Object.fromEntries(pairs) as Wires<S> // made of exactly these names
}

type Params = {
  readonly [K in GroupSettingName]: z.ZodOptional<z.ZodType<GroupSettingValue<K>>>
}

/** Body parameters of creation and update, older names among them. */
export const groupSettingParams = {
  ...(Object.fromEntries(
    names.map((name) => [name, (all[name].param as z.ZodType).optional()]),
  ) as unknown as Params),
  emails_disabled: flag().optional(),
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

/** The settings that a request sent for the group's JSON; what it did not send is absent. */
export function sentGroupSettings(
  body: Readonly<Record<string, unknown>>,
  sent: ReadonlySet<string>,
): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  if (sent.has('emails_disabled')) found.emails_enabled = body.emails_disabled !== true
  for (const name of names) if (sent.has(name) && body[name] !== undefined) found[name] = body[name]
  return found
}

/** Settings that are columns, as a request sent them. */
export function sentGroupColumns(body: {
  readonly project_creation_level?: string | undefined
  readonly subgroup_creation_level?: string | undefined
  readonly share_with_group_lock?: boolean | undefined
  readonly request_access_enabled?: boolean | undefined
  readonly membership_lock?: boolean | undefined
}): GroupColumns {
  const columns = {
    project_creation_level: body.project_creation_level,
    subgroup_creation_level: body.subgroup_creation_level,
    share_with_group_lock: body.share_with_group_lock,
    request_access_enabled: body.request_access_enabled,
    membership_lock: body.membership_lock,
  }
  const given = Object.entries(columns).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as GroupColumns // undefined ones left out
}

/** What `default_project_creation` of the application settings stands for. */
const CREATION_LEVELS = ['noone', 'maintainer', 'developer', 'administrator', 'owner'] as const

/** Who may create projects in a group of which nobody said it. */
export function presetCreationLevel(number: number): string {
  return CREATION_LEVELS[number] ?? 'developer'
}

export interface GroupColumns {
  readonly project_creation_level?: string
  readonly subgroup_creation_level?: string
  readonly share_with_group_lock?: boolean
  readonly request_access_enabled?: boolean
  readonly membership_lock?: boolean
}

/** Those of foreign settings, such as an archive's, that are ours and have values that we would take. */
export function knownGroupSettings(
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const name of names) {
    const read = name in given ? all[name].wire.safeParse(given[name]) : undefined
    if (read?.success) found[name] = read.data
  }
  return found
}
