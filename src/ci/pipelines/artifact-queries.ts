import type { Db, RowOf } from '../../store/schema.ts'

export type ArtifactRow = RowOf<'ci_job_artifacts'>

/** The files of jobs, in the order in which they came. */
export async function listArtifacts(
  db: Db,
  jobIds: readonly number[],
): Promise<ReadonlyMap<number, readonly ArtifactRow[]>> {
  const found = new Map<number, ArtifactRow[]>()
  if (jobIds.length === 0) return found
  const rows = await db
    .selectFrom('ci_job_artifacts')
    .selectAll()
    .where('job_id', 'in', jobIds)
    .orderBy('id')
    .execute()
  for (const row of rows) {
    const known = found.get(row.job_id)
    if (known) known.push(row)
    else found.set(row.job_id, [row])
  }
  return found
}
