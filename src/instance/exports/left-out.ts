import { z } from 'zod'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'
import { listRelationCounts } from './queries.ts'

/** A part of a project that an archive does not hold: how many there were; null where an older program did not say. */
export const leftOutRelation = z.object({
  relation_name: z.string().max(100),
  count: z.int().min(0).nullable(),
})
export type LeftOutRelation = z.infer<typeof leftOutRelation>

/** In the form that the reference has for relations that failed, so that its clients show them. */
export const failedRelation = z.strictObject({
  id: z.int(),
  created_at: z.string(),
  exception_class: z.string(),
  exception_message: z.string(),
  source: z.string(),
  relation_name: z.string(),
  line_number: z.int(),
})

/** What exports do not carry, of which the project has some. */
export async function findLeftOut(db: Db, projectId: number): Promise<LeftOutRelation[]> {
  const counts = await listRelationCounts(db, projectId)
  return counts.filter(({ count }) => count > 0)
}

export function presentLeftOut(
  relations: readonly LeftOutRelation[],
  at: Instant,
): z.input<typeof failedRelation>[] {
  return relations.map(({ relation_name, count }, index) => ({
    id: index + 1,
    created_at: at,
    exception_class: 'NotExported',
    exception_message: `${count ?? 'all'} ${relation_name} are not in the archive: exports do not carry them`,
    source: 'export',
    relation_name,
    line_number: 0,
  }))
}
