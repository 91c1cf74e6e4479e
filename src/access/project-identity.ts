import { z } from 'zod'
import type { ProjectRow } from './find-queries.ts'

/** What identifies a project, wherever another resource names it (docs/contract/D §1.2). */
export const projectIdentity = {
  id: z.int(),
  description: z.string().nullable(),
  name: z.string(),
  name_with_namespace: z.string(),
  path: z.string(),
  path_with_namespace: z.string(),
  created_at: z.string(),
} as const

export const projectIdentityEntity = z.strictObject(projectIdentity)

type Identity = Pick<
  ProjectRow,
  'id' | 'description' | 'name' | 'path' | 'full_path' | 'namespace_full_name' | 'created_at'
>

export function presentProjectIdentity(row: Identity): z.input<typeof projectIdentityEntity> {
  return {
    id: row.id,
    description: row.description,
    name: row.name,
    name_with_namespace: `${row.namespace_full_name} / ${row.name}`,
    path: row.path,
    path_with_namespace: row.full_path,
    created_at: row.created_at,
  }
}
