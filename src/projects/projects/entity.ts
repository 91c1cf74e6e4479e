import { z } from 'zod'
import { projectIdentity } from '../../access/project-identity.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { namespaceBriefEntity } from '../namespaces/entity.ts'
import { imageCleanupEntity } from './image-cleanup.ts'
import { legacyFields, projectSettingFields } from './settings.ts'

const license = z.strictObject({
  key: z.string(),
  name: z.string(),
  nickname: z.string().nullable(),
  html_url: z.string().nullable(),
  source_url: z.string().nullable(),
})

const customAttribute = z.strictObject({ key: z.string(), value: z.string() })

/** The block that everybody gets (docs/contract/D §1.2 Fields, basic block). */
const basicFields = {
  ...projectIdentity,
  default_branch: z.string().nullable().optional(),
  tag_list: z.array(z.string()),
  topics: z.array(z.string()),
  ssh_url_to_repo: z.string(),
  http_url_to_repo: z.string(),
  web_url: z.string(),
  readme_url: z.string().nullable().optional(),
  forks_count: z.int().optional(),
  license_url: z.string().nullable().optional(),
  license: license.nullable().optional(),
  avatar_url: z.string().nullable(),
  star_count: z.int(),
  last_activity_at: z.string(),
  visibility: z.enum(['private', 'internal', 'public']),
  namespace: namespaceBriefEntity,
  custom_attributes: z.array(customAttribute).optional(),
  repository_storage: z.string().optional(),
} as const

export const projectBasicEntity = z.strictObject(basicFields)
export type ProjectBasic = z.input<typeof projectBasicEntity>

const sharedGroup = z.strictObject({
  group_id: z.int(),
  group_name: z.string(),
  group_full_path: z.string(),
  group_access_level: z.int(),
  expires_at: z.string().nullable(),
})

/** What takes room in a project, or in all projects of a group. */
export const sizeFields = {
  storage_size: z.int(),
  repository_size: z.int(),
  wiki_size: z.int(),
  lfs_objects_size: z.int(),
  job_artifacts_size: z.int(),
  pipeline_artifacts_size: z.int(),
  packages_size: z.int(),
  snippets_size: z.int(),
  uploads_size: z.int(),
}

const statistics = z.strictObject({
  commit_count: z.int(),
  ...sizeFields,
  container_registry_size: z.int(),
})

const access = z.strictObject({ access_level: z.int(), notification_level: z.int() }).nullable()

/** A project as signed-in callers see it (docs/contract/D §1.2 Fields). */
export const projectEntity = z.strictObject({
  ...basicFields,
  _links: z.record(z.string(), z.string()),
  marked_for_deletion_at: z.string().nullable(),
  marked_for_deletion_on: z.string().nullable(),
  empty_repo: z.boolean(),
  archived: z.boolean(),
  owner: userBasicEntity.optional(),
  container_expiration_policy: imageCleanupEntity,
  repository_object_format: z.enum(['sha1', 'sha256']),
  ...legacyFields,
  service_desk_address: z.string().nullable(),
  can_create_merge_request_in: z.boolean(),
  emails_disabled: z.boolean(),
  creator_id: z.int().nullable(),
  forked_from_project: projectBasicEntity.nullable().optional(),
  import_url: z.string().nullable(),
  import_type: z.string().nullable(),
  import_status: z.string(),
  import_error: z.string().nullable().optional(),
  open_issues_count: z.int().optional(),
  description_html: z.string(),
  updated_at: z.string(),
  runners_token: z.string().nullable().optional(),
  shared_with_groups: z.array(sharedGroup),
  statistics: statistics.optional(),
  permissions: z.strictObject({ project_access: access, group_access: access }).optional(),
  mirror_user_id: z.int().nullable().optional(),
  compliance_frameworks: z.array(z.string()),
  ...projectSettingFields,
})

export type ProjectFull = z.input<typeof projectEntity>

/** Lists answer either form (`simple=true`, anonymous callers). */
export const projectListEntity = z.array(z.union([projectEntity, projectBasicEntity]))
