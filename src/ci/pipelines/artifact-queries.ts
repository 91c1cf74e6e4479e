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

/** How long the logs of jobs are, of those that have one. */
export async function listTraceSizes(
  db: Db,
  jobIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (jobIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('ci_traces')
    .select(['job_id', 'size'])
    .where('job_id', 'in', jobIds)
    .where('size', '>', 0)
    .execute()
  return new Map(rows.map(({ job_id, size }) => [job_id, size]))
}
