import { z } from 'zod'
import type { ProjectRow } from '../../access/find-queries.ts'
import type { Project } from '../../access/subjects.ts'

/** What tells a project apart. */
export const identity = {
  id: z.int(),
  description: z.string().nullable(),
  name: z.string(),
  name_with_namespace: z.string(),
  path: z.string(),
  path_with_namespace: z.string(),
  created_at: z.string(),
} as const

export function presentIdentity(row: Project | ProjectRow) {
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

/** How far an import is. */
export const importEntity = z.strictObject({
  ...identity,
  import_status: z.string(),
  import_type: z.string().nullable(),
  correlation_id: z.string().nullable(),
  failed_relations: z.array(z.never()),
  import_error: z.string().nullable(),
  stats: z.null(),
})

export function presentImport(row: Project | ProjectRow): z.input<typeof importEntity> {
  const settings: Readonly<Record<string, unknown>> =
    typeof row.settings === 'string' ? JSON.parse(row.settings) : row.settings
  return {
    ...presentIdentity(row),
    import_status: row.import_status,
    import_type: typeof settings.import_type === 'string' ? settings.import_type : null,
    correlation_id: null,
    failed_relations: [],
    import_error: row.import_error,
    stats: null,
  }
}
