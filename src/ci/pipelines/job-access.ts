import { userOf } from '../../access/actor.ts'
import { projectRecord } from '../../access/records.ts'
import type { Access, Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { getPipeline, onBuilds } from './access.ts'
import { type JobRow, jobOf } from './process/running.ts'

const params = { job_id: id() }

async function getJob(ctx: Pick<Ctx, 'db'>, project: Project, jobId: number): Promise<JobRow> {
  const job = await jobOf(ctx.db, jobId)
  if (job?.project_id !== project.id) throw notFound()
  return job
}

/** A job of the project, for those who may read its pipelines. */
export function onJob(
  options: { readonly signedIn?: boolean } = {},
): Access<{ readonly project: Project; readonly job: JobRow }, 'id' | 'job_id'> {
  const builds = onBuilds(options)
  return {
    ...builds,
    params: { ...builds.params, ...params },
    async find(request) {
      const { project } = await builds.find(request)
      const { job_id } = request.read(params)
      return { project, job: await getJob(request.ctx, project, job_id) }
    },
  }
}

/** A job of the project and its pipeline, for those who may do a thing to it (docs/contract/B-resolved §5.1). */
export const onRunnableJob = projectRecord('create_pipeline', {
  params,
  async find({ ctx, project, params }) {
    const job = await getJob(ctx, project, params.job_id)
    return { job, pipeline: await getPipeline(ctx, project, job.pipeline_id) }
  },
  conditions({ ctx, job }) {
    const caller = userOf(ctx.actor)
    return { author: caller !== null && job.user_id === caller.id }
  },
})
