import { z } from 'zod'
import type { JobActor } from '../../access/actor.ts'
import { findJobActor } from '../../access/authentication/job-token.ts'
import { anyone, withProjectRole } from '../../access/subjects.ts'
import {
  badParameters,
  badRequest,
  forbidden,
  notFound,
  tooLarge,
  unauthorized,
} from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { streamForm } from '../../http/body/stream-form.ts'
import { answerDownload } from '../../http/conditional-file.ts'
import { bytes, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { flag, id, integer, oneOf, text } from '../../http/params.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { type LoadedJob, loadJob, needsForeign } from '../pipelines/process/running.ts'
import { jobTokenOf, signInJob } from '../pipelines/process/sign-in-job.ts'
import { getArchive } from './access.ts'
import { readDotenv, saveDotenv } from './dotenv.ts'
import { downloadOf } from './download.ts'
import { type ArtifactRow, findArtifact, findGroupLimit } from './queries.ts'
import { saveArtifact } from './save-artifact.ts'

const common = { access: anyone(), ownSignIn: true } as const
const path = '/jobs/:id/artifacts'
const params = { id: id() }
const MEBIBYTE = 1024 * 1024

/** The running job that sends artifacts, with what belongs to it. */
async function sender(
  ctx: Ctx,
  jobId: number,
  request: RequestFacts,
  token: string | undefined,
): Promise<LoadedJob> {
  await signInJob(ctx, jobId, jobTokenOf(request, token))
  const loaded = await loadJob(ctx.db, jobId)
  if (!loaded) throw forbidden()
  return loaded
}

/** Bytes of one file: the limit of the project, else that of the nearest group, else that of the instance. */
async function largest(ctx: Ctx, { project }: LoadedJob): Promise<number> {
  const settings = { settings: JSON.parse(project.settings) as Record<string, unknown> } // written by us
  const own =
    projectSetting(settings, 'max_artifacts_size') ??
    (await findGroupLimit(ctx.db, project.namespace_id))
  return (own ?? ctx.settings.get('max_artifacts_size')) * MEBIBYTE
}

export const authorizeJobArtifacts = endpoint({
  ...common,
  method: 'POST',
  path: `${path}/authorize`,
  summary: 'Ask whether artifacts of this size would be taken',
  params,
  body: {
    token: text().optional(),
    filesize: integer({ min: 0 }).optional(),
    artifact_type: text({ max: 64 }).optional(),
  },
  status: 200,
  response: z.strictObject({ MaximumSize: z.int() }),
  async handler({ ctx, params, body, request }) {
    const loaded = await sender(ctx, params.id, request, body.token)
    const most = await largest(ctx, loaded)
    if ((body.filesize ?? 0) > most) throw tooLarge()
    return { MaximumSize: most }
  },
})

const TYPE = /^[a-z][a-z0-9_]{0,63}$/

const described = {
  artifact_type: text({ max: 64 }).optional(),
  artifact_format: oneOf(['zip', 'gzip', 'raw']).optional(),
  expire_in: text({ max: 100 }).optional(),
  accessibility: oneOf(['public', 'private']).optional(),
}

/** What a form says of its file, where the query does not. */
function readFields(fields: ReadonlyMap<string, readonly string[]>) {
  const last = [...fields].map(([name, values]) => [name, values.at(-1)])
  const read = z.object(described).safeParse(Object.fromEntries(last))
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw badParameters(`${issue?.path.join('.')} ${issue?.message}`)
}

export const uploadJobArtifacts = endpoint({
  ...common,
  method: 'POST',
  path,
  summary: 'Send a file of a running job',
  raw: true,
  params,
  query: { token: text().optional(), ...described },
  response: z.int(),
  status: 201,
  async handler({ ctx, params, query, request }) {
    assertType(query.artifact_type)
    const loaded = await sender(ctx, params.id, request, query.token)
    const maxSize = await largest(ctx, loaded)
    const form = await streamForm(request, 'file', (file) => ctx.files.put(file, { maxSize }))
    if (!form.file) throw badRequest('file is missing')
    const { name, kept } = form.file
    // It may have ended meanwhile: what comes after the end does not count.
    await signInJob(ctx, params.id, jobTokenOf(request, query.token))
    const fields = readFields(form.fields)
    assertType(fields.artifact_type)
    const sent = {
      type: query.artifact_type ?? fields.artifact_type ?? 'archive',
      format: query.artifact_format ?? fields.artifact_format ?? 'zip',
      expireIn: query.expire_in ?? fields.expire_in,
      accessibility: query.accessibility ?? fields.accessibility,
    }
    const report = { ...kept, file_format: sent.format }
    const variables = sent.type === 'dotenv' ? await readDotenv(ctx, report) : undefined
    await saveArtifact(ctx, loaded, sent, name, kept)
    if (variables) await saveDotenv(ctx, params.id, variables)
    return 201
  },
})

function assertType(type: string | undefined): void {
  if (type !== undefined && !TYPE.test(type)) throw badParameters('artifact_type is invalid')
}

export const downloadJobArtifacts = endpoint({
  ...common,
  method: 'GET',
  path,
  summary: 'Download the artifacts of an earlier job, for a running job',
  params,
  query: { token: text().optional(), direct_download: flag().optional() },
  response: bytes('application/zip'),
  async handler({ ctx, params, query, request }) {
    const token = jobTokenOf(request, query.token)
    const actor = token === undefined ? undefined : await findJobActor(ctx, token)
    if (!actor) throw unauthorized()
    const archive = await archiveFor({ ...ctx, actor }, actor, params.id)
    return await answerDownload(request, downloadOf(ctx, archive))
  },
})

/** What a job needs it gets; of other jobs of its project, what `artifacts:access` lets its user have. */
async function archiveFor(ctx: Ctx, actor: JobActor, jobId: number): Promise<ArtifactRow> {
  const loaded = await loadJob(ctx.db, jobId)
  if (!loaded) throw forbidden()
  if (!(await isNeeded(ctx, actor, loaded))) {
    if (loaded.project.id !== actor.projectId) throw forbidden()
    return await getArchive(ctx, await withProjectRole(ctx, loaded.project), jobId)
  }
  const archive = await findArtifact(ctx.db, jobId, 'archive')
  if (!archive) throw notFound()
  return archive
}

/** Jobs of one pipeline may need each other; what is needed from elsewhere was judged when the job began. */
async function isNeeded(ctx: Ctx, actor: JobActor, { job }: LoadedJob): Promise<boolean> {
  const own = await loadJob(ctx.db, actor.jobId)
  if (own?.job.pipeline_id === job.pipeline_id) return true
  return await needsForeign(ctx.db, actor.jobId, job.id)
}
