import { z } from 'zod'
import { signedIn, withProjectRole } from '../../access/subjects.ts'
import { forbidden, notFound } from '../../base/problem.ts'
import { answerDownload } from '../../http/conditional-file.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { integer } from '../../http/params.ts'
import { eraseArtifacts } from '../artifacts/erase.ts'
import { readEnvironment } from '../environments/follow-jobs.ts'
import { findEnvironmentByName } from '../environments/queries.ts'
import { runsOnRef } from '../pipelines/access.ts'
import { onJob, onRunnableJob } from '../pipelines/job-access.ts'
import { jobEntity, jobPresenter } from '../pipelines/job-entity.ts'
import { jobOf, loadJob, markErased } from '../pipelines/process/running.ts'
import { MOST_TRACE_BYTES } from '../traces/append-trace.ts'
import { eraseTrace } from '../traces/erase.ts'
import { followTrace } from '../traces/follow-trace.ts'
import { readTrace } from '../traces/read-trace.ts'
import { noteWatched } from '../traces/watchers.ts'
import { mayReadDebugTrace } from './conditions.ts'
import { eventStream } from './event-stream.ts'
import { listGroupIds } from './queries.ts'

const ENDED: readonly string[] = ['success', 'failed', 'canceled']

export const getJobTrace = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/trace',
  summary: 'Read the log of a job',
  access: onJob({ signedIn: true }),
  conditions: [mayReadDebugTrace],
  response: bytes('text/plain'),
  async handler({ ctx, job, request }) {
    const trace = await readTrace(ctx, job.id)
    if (!ENDED.includes(job.status)) noteWatched(ctx, job.id)
    return await answerDownload(request, {
      size: trace.size,
      etag: trace.etag,
      type: 'text/plain',
      headers: { 'Content-Disposition': `infile; filename="${job.id}.log"` },
      open: (range) => trace.open(range),
    })
  },
})

export const followJobTrace = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/trace/events',
  summary: 'Follow the log of a job as it grows, by server-sent events',
  access: onJob({ signedIn: true }),
  conditions: [mayReadDebugTrace],
  query: { offset: integer({ min: 0, max: MOST_TRACE_BYTES }).default(0) },
  response: bytes('text/event-stream'),
  handler({ ctx, job, query, request }) {
    // Clients that were cut off say how far they have come.
    const last = Number(request.headers['last-event-id'])
    const from = Number.isSafeInteger(last) && last > 0 ? last : query.offset
    const { signal, stopping } = request
    return eventStream(ctx, followTrace(ctx, job.id, { from, signal, stopping }))
  },
})

export const eraseJob = endpoint({
  method: 'POST',
  path: '/projects/:id/jobs/:job_id/erase',
  summary: 'Delete the log and the artifacts of a job',
  access: onRunnableJob('erase_build'),
  conditions: [runsOnRef],
  response: jobEntity,
  status: 201,
  async handler({ ctx, project, job }) {
    if (!ENDED.includes(job.status) || job.erased_at !== null) {
      throw forbidden('Job is not erasable!')
    }
    await eraseTrace(ctx, job.id)
    await eraseArtifacts(ctx, job.id)
    await markErased(ctx, job.id)
    const row = await jobOf(ctx.db, job.id)
    if (!row) throw notFound()
    return (await jobPresenter(ctx, project, [row])).job(row)
  },
})

export const getOwnJob = endpoint({
  method: 'GET',
  path: '/job',
  summary: 'Read the job whose token the caller has',
  access: signedIn(),
  jobToken: true,
  response: jobEntity,
  async handler({ ctx }) {
    const { actor } = ctx
    const loaded = actor.kind === 'job' ? await loadJob(ctx.db, actor.jobId) : undefined
    if (!loaded) throw notFound('Job')
    const project = await withProjectRole(ctx, loaded.project)
    return (await jobPresenter(ctx, project, [loaded.job])).job(loaded.job)
  },
})

const agentsEntity = z.strictObject({
  allowed_agents: z.array(z.looseObject({ id: z.int() })),
  job: z.strictObject({ id: z.int() }),
  pipeline: z.strictObject({ id: z.int() }),
  project: z.strictObject({ id: z.int(), groups: z.array(z.strictObject({ id: z.int() })) }),
  user: z.strictObject({
    id: z.int(),
    username: z.string(),
    roles_in_project: z.array(z.string()),
  }),
  environment: z.strictObject({ tier: z.string().nullable(), slug: z.string() }).optional(),
})

const ROLES = [
  [10, 'guest'],
  [20, 'reporter'],
  [30, 'developer'],
  [40, 'maintainer'],
  [50, 'owner'],
] as const

/** No cluster agents are kept here: the list is empty, the rest says who asks. */
export const listAllowedAgents = endpoint({
  method: 'GET',
  path: '/job/allowed_agents',
  summary: 'List the cluster agents that a job may use',
  access: signedIn(),
  jobToken: true,
  response: agentsEntity,
  async handler({ ctx }) {
    const { actor } = ctx
    const loaded = actor.kind === 'job' ? await loadJob(ctx.db, actor.jobId) : undefined
    if (!loaded || actor.kind !== 'job') throw notFound('Job')
    const project = await withProjectRole(ctx, loaded.project)
    const groups = await listGroupIds(ctx.db, project.namespace_id)
    const { environment: said } = loaded.job
    const environment =
      said === null
        ? undefined
        : await findEnvironmentByName(ctx.db, project.id, readEnvironment(said).name)
    return {
      allowed_agents: [],
      job: { id: loaded.job.id },
      pipeline: { id: loaded.pipeline.id },
      project: { id: project.id, groups: groups.map((id) => ({ id })) },
      user: {
        id: actor.user.id,
        username: actor.user.username,
        roles_in_project: ROLES.filter(([level]) => level <= project.role).map(([, name]) => name),
      },
      ...(environment ? { environment: { tier: environment.tier, slug: environment.slug } } : {}),
    }
  },
})
