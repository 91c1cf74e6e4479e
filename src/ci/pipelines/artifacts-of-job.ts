import type { Ctx } from '../../ctx.ts'
import { type ArtifactRow, listArtifacts } from './artifact-queries.ts'

/** The files that a job has left. */
export async function artifactsOfJob(
  ctx: Pick<Ctx, 'db'>,
  jobId: number,
): Promise<readonly ArtifactRow[]> {
  return (await listArtifacts(ctx.db, [jobId])).get(jobId) ?? []
}

/** The files of several jobs, by job. */
export async function artifactsOfJobs(
  ctx: Pick<Ctx, 'db'>,
  jobIds: readonly number[],
): Promise<ReadonlyMap<number, readonly ArtifactRow[]>> {
  return await listArtifacts(ctx.db, jobIds)
}
