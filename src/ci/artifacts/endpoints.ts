import { z } from 'zod'
import { onProject, type Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { answerDownload } from '../../http/conditional-file.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { flag, text } from '../../http/params.ts'
import { listZipEntries, openZipEntry } from '../archives/zip-entry.ts'
import { onBuilds, runsOnRef } from '../pipelines/access.ts'
import { onJob, onRunnableJob } from '../pipelines/job-access.ts'
import { jobEntity, jobPresenter } from '../pipelines/job-entity.ts'
import { expireJobArtifacts, jobOf } from '../pipelines/process/running.ts'
import { getArchive } from './access.ts'
import { downloadOf } from './download.ts'
import { eraseArtifacts } from './erase.ts'
import { expireAll, findLatestSource, keepArtifacts } from './latest.ts'

const path = '/projects/:id/jobs/:job_id/artifacts'

export const downloadArtifacts = endpoint({
  method: 'GET',
  path,
  summary: 'Download the artifacts of a job',
  access: onJob(),
  jobToken: true,
  response: bytes('application/zip'),
  async handler({ ctx, project, job, request }) {
    return await answerDownload(request, downloadOf(ctx, await getArchive(ctx, project, job.id)))
  },
})

const treeEntity = z.strictObject({
  name: z.string(),
  path: z.string(),
  type: z.enum(['file', 'directory']),
  size: z.int().nullable(),
  mode: z.string().nullable(),
})

export const listArtifactTree = endpoint({
  method: 'GET',
  path: `${path}/tree`,
  summary: 'List the files in the artifacts of a job',
  access: onJob(),
  jobToken: true,
  query: { path: text({ max: 4096 }).default(''), recursive: flag().default(false) },
  paginate: 'offset',
  response: z.array(treeEntity),
  async handler({ ctx, project, job, query, page }) {
    const archive = await getArchive(ctx, project, job.id)
    const all = await listZipEntries(ctx, archive, query)
    return { items: all.slice(page.offset, page.offset + page.perPage), total: all.length }
  },
})

export const downloadArtifactFile = endpoint({
  method: 'GET',
  path: `${path}/*artifact_path`,
  summary: 'Download one file of the artifacts of a job',
  access: onJob(),
  jobToken: true,
  params: { artifact_path: text() },
  response: bytes('application/octet-stream'),
  async handler({ ctx, project, job, params }) {
    const archive = await getArchive(ctx, project, job.id)
    return await openZipEntry(ctx, archive, params.artifact_path)
  },
})

const latestQuery = {
  job: text(),
  search_recent_successful_pipelines: flag().default(false),
}

async function getLatestSource(
  ctx: Pick<Ctx, 'db'>,
  project: Project,
  ref: string,
  query: {
    readonly job: string
    readonly search_recent_successful_pipelines: boolean
  },
): Promise<number> {
  const recent = query.search_recent_successful_pipelines
  const jobId = await findLatestSource(ctx, project, ref, {
    name: query.job,
    recent,
  })
  if (jobId === undefined) throw notFound()
  return jobId
}

export const downloadLatestArtifacts = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/artifacts/:ref_name/download',
  // Slashes of a ref as they are (docs/contract/B-resolved §5.2).
  otherPath: '/projects/:id/jobs/artifacts/*ref_name/download',
  summary: 'Download the artifacts of a job of the newest successful pipeline of a ref',
  access: onBuilds(),
  jobToken: true,
  params: { ref_name: text() },
  query: latestQuery,
  response: bytes('application/zip'),
  async handler({ ctx, project, params, query, request }) {
    const jobId = await getLatestSource(ctx, project, params.ref_name, query)
    return await answerDownload(request, downloadOf(ctx, await getArchive(ctx, project, jobId)))
  },
})

export const downloadLatestArtifactFile = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/artifacts/:ref_name/raw/*artifact_path',
  otherPath: '/projects/:id/jobs/artifacts/*ref_name/raw/*artifact_path',
  summary: 'Download one file of the artifacts of the newest successful pipeline of a ref',
  access: onBuilds(),
  jobToken: true,
  params: { ref_name: text(), artifact_path: text() },
  query: latestQuery,
  response: bytes('text/plain'),
  async handler({ ctx, project, params, query }) {
    const jobId = await getLatestSource(ctx, project, params.ref_name, query)
    const archive = await getArchive(ctx, project, jobId)
    return await openZipEntry(ctx, archive, params.artifact_path, 'text/plain')
  },
})

export const keepJobArtifacts = endpoint({
  method: 'POST',
  path: `${path}/keep`,
  summary: 'Keep the artifacts of a job for ever',
  access: onRunnableJob(),
  conditions: [runsOnRef],
  response: jobEntity,
  status: 200,
  async handler({ ctx, project, job }) {
    if (!(await keepArtifacts(ctx, job.id))) throw notFound()
    await expireJobArtifacts(ctx, job.id, null)
    const row = await jobOf(ctx.db, job.id)
    if (!row) throw notFound()
    return (await jobPresenter(ctx, project, [row])).job(row)
  },
})

export const deleteJobArtifacts = endpoint({
  method: 'DELETE',
  path,
  summary: 'Delete the artifacts of a job',
  access: onRunnableJob('admin_build'),
  conditions: [runsOnRef],
  async handler({ ctx, job }) {
    await eraseArtifacts(ctx, job.id)
  },
})

export const deleteProjectArtifacts = endpoint({
  method: 'DELETE',
  path: '/projects/:id/artifacts',
  summary: 'Delete the artifacts of a project that are not marked to be kept',
  access: onProject('admin_build'),
  response: z.strictObject({ message: z.literal('202 Accepted') }),
  status: 202,
  async handler({ ctx, project }) {
    await expireAll(ctx, project.id)
    return { message: '202 Accepted' as const }
  },
})
