import { z } from 'zod'
import { settingFields } from '../namespaces/setting-fields.ts'
import { projectBasicEntity, projectEntity, sizeFields } from '../projects/entity.ts'
import { branchProtectionEntity } from './branch-protection.ts'
import { groupDetailSettings, groupSettings } from './settings.ts'

const fields = {
  id: z.int(),
  web_url: z.string(),
  name: z.string(),
  path: z.string(),
  description: z.string(),
  visibility: z.enum(['private', 'internal', 'public']),
  share_with_group_lock: z.boolean(),
  project_creation_level: z.string(),
  subgroup_creation_level: z.string(),
  emails_disabled: z.boolean(),
  ...settingFields(groupSettings),
  default_branch_protection_defaults: branchProtectionEntity,
  avatar_url: z.string().nullable(),
  request_access_enabled: z.boolean(),
  full_name: z.string(),
  full_path: z.string(),
  created_at: z.string(),
  parent_id: z.int().nullable(),
  organization_id: z.int(),
  statistics: z.strictObject(sizeFields).optional(),
  custom_attributes: z.array(z.strictObject({ key: z.string(), value: z.string() })).optional(),
  marked_for_deletion_on: z.string().nullable(),
  archived: z.boolean(),
  ldap_cn: z.null(),
  ldap_access: z.null(),
} as const

/** A group in lists (docs/contract/D §1.3 Fields). */
export const groupEntity = z.strictObject(fields)
export type GroupEntity = z.input<typeof groupEntity>

/** A group in a single read. */
export const groupDetailEntity = z.strictObject({
  ...fields,
  shared_with_groups: z.array(
    z.strictObject({
      group_id: z.int(),
      group_name: z.string(),
      group_full_path: z.string(),
      group_access_level: z.int(),
      expires_at: z.string().nullable(),
      member_role_id: z.int().nullable(),
    }),
  ),
  projects: z.array(z.union([projectEntity, projectBasicEntity])).optional(),
  shared_projects: z.array(z.union([projectEntity, projectBasicEntity])).optional(),
  membership_lock: z.boolean(),
  runners_token: z.string().nullable().optional(),
  ...settingFields(groupDetailSettings),
})
export type GroupDetail = z.input<typeof groupDetailEntity>

/** A group where something could go, or came from (docs/contract/D §1.2: `P/groups` and its like). */
export const groupPlaceEntity = z.strictObject({
  id: z.int(),
  web_url: z.string(),
  name: z.string(),
  avatar_url: z.string().nullable(),
  full_name: z.string(),
  full_path: z.string(),
})
export type GroupPlace = z.input<typeof groupPlaceEntity>
