import type { Ctx } from '../../ctx.ts'
import { nameOfAll } from '../config/parallel.ts'
import type { ValueMap } from '../config/values.ts'
import { listArtifactSources, type SourceRow } from '../pipelines/dependency-queries.ts'
import type { LoadedJob } from '../pipelines/process/running.ts'

/** An earlier job whose artifacts a runner downloads. */
export interface Dependency {
  readonly id: number
  readonly name: string
  readonly token: string
  readonly artifacts_file: { readonly filename: string; readonly size: number }
}

/**
 * The jobs whose artifacts a job gets: those that it names by `dependencies`, those that it needs with artifacts, else
 * all of earlier stages. Artifacts that were there once and are gone are a failure (docs/contract/D §5.2). The runner downloads
 * with the token of the job itself: those of earlier jobs ended with them.
 */
export async function listDependencies(
  ctx: Ctx,
  { job, pipeline }: LoadedJob,
  token: string,
): Promise<readonly Dependency[] | string> {
  const options = JSON.parse(job.options) as ValueMap // written by us
  const rows = await listArtifactSources(ctx.db, {
    pipelineId: pipeline.id,
    jobId: job.id,
    position: job.position,
    byNeeds: job.uses_needs === 1,
  })
  const named = Array.isArray(options.dependencies) ? options.dependencies.map(String) : undefined
  const wanted = named ? rows.filter((row) => fits(named, row.name)) : rows
  if (wanted.some((row) => isGone(row, ctx.now()))) return 'missing_dependency_failure'
  return wanted.flatMap(({ filename, size, ...source }) =>
    filename === null || size === null ? [] : [dependencyOn({ ...source, filename, size }, token)],
  )
}

export function dependencyOn(
  source: {
    readonly id: number
    readonly name: string
    readonly filename: string
    readonly size: number
  },
  token: string,
): Dependency {
  const { id, name, filename, size } = source
  return { id, name, token, artifacts_file: { filename, size } }
}

/** A parallel job is named as a whole. */
function fits(names: readonly string[], name: string): boolean {
  return names.includes(name) || names.includes(nameOfAll(name))
}

function isGone(row: SourceRow, now: string): boolean {
  if (row.filename !== null || row.status !== 'success') return false
  const isOver = row.artifacts_expire_at !== null && row.artifacts_expire_at <= now
  return row.erased_at !== null || isOver
}
