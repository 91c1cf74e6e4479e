import { type Actor, ANONYMOUS, userOf } from '../../access/actor.ts'
import { findProjectById } from '../../access/find-queries.ts'
import { findVisibleProject, type Project, withProjectRole } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { getArchive } from '../artifacts/access.ts'
import { findLatestSource } from '../artifacts/latest.ts'
import type { ForeignNeed } from '../config/needs.ts'
import type { Value } from '../config/values.ts'
import { mayReadBuilds } from '../pipelines/access.ts'
import { findNamedJob } from '../pipelines/job-queries.ts'
import type { LoadedJob } from '../pipelines/process/running.ts'
import { findPipeline, findSource, type PipelineRow } from '../pipelines/queries.ts'

/** A job elsewhere whose artifacts a job gets. */
export interface ForeignSource {
  readonly id: number
  readonly name: string
  readonly filename: string
  readonly size: number
}

/**
 * The jobs of other projects, and of the pipelines that a pipeline comes from, whose artifacts `needs` asks for
 * (docs/contract/D §5.2), as far as the job's user may have them; undefined when one that must be there is not.
 */
export async function foreignSources(
  ctx: Ctx,
  { job, pipeline }: Pick<LoadedJob, 'job' | 'pipeline'>,
  needs: Value,
  expand: (text: string) => string,
): Promise<readonly ForeignSource[] | undefined> {
  const found: ForeignSource[] = []
  const asJob = actingAsJob(ctx, job)
  for (const need of (needs ?? []) as readonly ForeignNeed[]) {
    const source =
      need.project === undefined
        ? await inPipeline(ctx, pipeline, expand(need.pipeline ?? ''), need.job)
        : await inProject(asJob, expand(need.project), expand(need.ref ?? ''), expand(need.job))
    if (source) found.push(source)
    else if (!need.optional) return undefined
  }
  return found
}

/** Other projects are reached as by the job's own token: those that let it in, and what everybody may have. */
function actingAsJob(ctx: Ctx, { id, project_id }: LoadedJob['job']): Ctx {
  const user = userOf(ctx.actor)
  const actor: Actor = user ? { kind: 'job', jobId: id, projectId: project_id, user } : ANONYMOUS
  return { ...ctx, actor }
}

async function inProject(
  ctx: Ctx,
  path: string,
  ref: string,
  name: string,
): Promise<ForeignSource | undefined> {
  const project = await findVisibleProject(ctx, path)
  if (!project || !mayReadBuilds(ctx, project)) return undefined
  const id = await findLatestSource(ctx, project, ref, { name, recent: false })
  return id === undefined ? undefined : await sourceOf(ctx, project, id, name)
}

async function inPipeline(
  ctx: Ctx,
  own: PipelineRow,
  given: string,
  name: string,
): Promise<ForeignSource | undefined> {
  const other = /^\d+$/.test(given) ? await findPipeline(ctx.db, Number(given)) : undefined
  const row = await findProjectById(ctx.db, own.project_id)
  if (!row || other?.project_id !== own.project_id) return undefined
  if ((await rootOf(ctx, other)) !== (await rootOf(ctx, own))) return undefined
  const job = await findNamedJob(ctx.db, other.id, name)
  return job && (await sourceOf(ctx, await withProjectRole(ctx, row), job.id, name))
}

/** The pipeline that a child goes back to. */
async function rootOf(ctx: Pick<Ctx, 'db'>, { id, source }: PipelineRow): Promise<number> {
  if (source !== 'parent_pipeline') return id
  const parent = await findSource(ctx.db, id)
  const row = parent && (await findPipeline(ctx.db, parent.pipeline_id))
  return row ? await rootOf(ctx, row) : id
}

async function sourceOf(
  ctx: Ctx,
  project: Project,
  id: number,
  name: string,
): Promise<ForeignSource | undefined> {
  try {
    const { filename, size } = await getArchive(ctx, project, id)
    return { id, name, filename, size }
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}
