import type { Ctx } from '../../../ctx.ts'
import { nameOfAll } from '../../config/parallel.ts'
import type { ValueMap } from '../../config/values.ts'
import { listArtifactSources, type SourceRow } from '../dependency-queries.ts'
import type { LoadedJob } from './running.ts'

/**
 * The jobs of its pipeline whose artifacts and dotenv variables a job gets: those that it names by `dependencies`, those that
 * it needs with artifacts, else all of earlier stages.
 */
export async function artifactSourcesOf(
  ctx: Pick<Ctx, 'db'>,
  { job, pipeline }: Pick<LoadedJob, 'job' | 'pipeline'>,
): Promise<readonly SourceRow[]> {
  const { dependencies } = JSON.parse(job.options) as ValueMap // written by us
  const rows = await listArtifactSources(ctx.db, {
    pipelineId: pipeline.id,
    jobId: job.id,
    position: job.position,
    byNeeds: job.uses_needs === 1,
  })
  if (!Array.isArray(dependencies)) return rows
  const named = dependencies.map(String)
  // A parallel job is named as a whole.
  return rows.filter(({ name }) => named.includes(name) || named.includes(nameOfAll(name)))
}
