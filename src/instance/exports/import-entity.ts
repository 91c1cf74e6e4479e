import { z } from 'zod'
import type { ProjectRow } from '../../access/find-queries.ts'
import { presentProjectIdentity, projectIdentity } from '../../access/project-identity.ts'
import type { Project } from '../../access/subjects.ts'
import { failedRelation } from './left-out.ts'

/** How far an import is. */
export const importEntity = z.strictObject({
  ...projectIdentity,
  import_status: z.string(),
  import_type: z.string().nullable(),
  correlation_id: z.string().nullable(),
  /** What the archive did not hold. */
  failed_relations: z.array(failedRelation),
  import_error: z.string().nullable(),
  stats: z.null(),
})

export function presentImport(
  row: Project | ProjectRow,
  failed: z.input<typeof failedRelation>[] = [],
): z.input<typeof importEntity> {
  const settings: Readonly<Record<string, unknown>> =
    typeof row.settings === 'string' ? JSON.parse(row.settings) : row.settings
  return {
    ...presentProjectIdentity(row),
    import_status: row.import_status,
    import_type: typeof settings.import_type === 'string' ? settings.import_type : null,
    correlation_id: null,
    failed_relations: failed,
    import_error: row.import_error,
    stats: null,
  }
}
