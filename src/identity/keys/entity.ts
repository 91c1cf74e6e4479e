import { z } from 'zod'
import { presentProjectIdentity, projectIdentityEntity } from '../../access/project-identity.ts'
import { userEntity } from '../users/entity.ts'
import type { DeployKeyRow, listProjectsOfKeys, SshKeyRow } from './queries.ts'

const fields = {
  id: z.int(),
  title: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  last_used_at: z.string().nullable(),
  key: z.string(),
  usage_type: z.enum(['auth_and_signing', 'auth', 'signing']),
} as const

export const sshKeyEntity = z.strictObject(fields)
export type SshKeyView = z.input<typeof sshKeyEntity>

export function presentKey(row: SshKeyRow): SshKeyView {
  return {
    id: row.id,
    title: row.title,
    created_at: row.created_at,
    expires_at: row.expires_at,
    last_used_at: row.last_used_at,
    key: row.key,
    usage_type: row.usage_type,
  }
}

const keyProjectEntity = z.strictObject({
  id: z.int(),
  deploy_key_id: z.int(),
  project_id: z.int(),
  can_push: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
})

/** A key as administrators find it, with whose it is. */
export const foundKeyEntity = sshKeyEntity.extend({
  user: userEntity.nullable(),
  deploy_keys_projects: z.array(keyProjectEntity).optional(),
})

const deployFields = { ...fields, fingerprint: z.string(), fingerprint_sha256: z.string() }

/** A deploy key in a project. */
export const deployKeyEntity = z.strictObject({ ...deployFields, can_push: z.boolean() })

export function presentDeployKey(row: DeployKeyRow): z.input<typeof deployKeyEntity> {
  return {
    ...presentKey(row),
    fingerprint: row.fingerprint_md5,
    fingerprint_sha256: row.fingerprint_sha256,
    can_push: row.can_push === 1,
  }
}

/** A deploy key in the list of the instance. */
export const instanceDeployKeyEntity = z.strictObject({
  ...deployFields,
  public: z.boolean(),
  projects_with_write_access: z.array(projectIdentityEntity),
  projects_with_readonly_access: z.array(projectIdentityEntity),
})

type KeyProject = Awaited<ReturnType<typeof listProjectsOfKeys>>[number]

export function presentInstanceDeployKey(
  row: SshKeyRow,
  projects: readonly KeyProject[],
): z.input<typeof instanceDeployKeyEntity> {
  const own = projects.filter((project) => project.key_id === row.id)
  return {
    ...presentKey(row),
    fingerprint: row.fingerprint_md5,
    fingerprint_sha256: row.fingerprint_sha256,
    public: row.public === 1,
    projects_with_write_access: own.filter((one) => one.can_push === 1).map(presentProjectIdentity),
    projects_with_readonly_access: own
      .filter((one) => one.can_push === 0)
      .map(presentProjectIdentity),
  }
}
