import { once } from 'node:events'
import archiver from 'archiver'
import { commitFiles } from './fast-import.ts'
import { addMember } from './members.ts'
import { addProject, type TestProject } from './project.ts'
import { addRunner, type GivenJob, type TestRunner } from './runner.ts'
import type { Caller, World } from './world.ts'

/** A project with a configuration, and a runner of its own. */
export interface CiPlace {
  readonly project: TestProject
  /** `/projects/7` */
  readonly path: string
  readonly runner: TestRunner
  readonly owner: Caller
}

let count = 0

/** A project of somebody with a configuration, members and a runner that nobody else has. */
export async function addCiPlace(
  world: World,
  owner: Caller,
  config: string | Readonly<Record<string, string>>,
  more: {
    readonly members?: readonly (readonly [Caller, number])[]
    readonly settings?: Readonly<Record<string, unknown>>
    readonly visibility?: 'private' | 'internal' | 'public'
    readonly runner?: object
  } = {},
): Promise<CiPlace> {
  count += 1
  const project = await addProject(world, owner, 'basic', {
    path: `place${count}`,
    visibility: more.visibility ?? 'private',
    settings: more.settings ?? {},
  })
  for (const [member, level] of more.members ?? []) {
    await addMember(world, project.id, member.id, level)
  }
  commitFiles(project, { files: typeof config === 'string' ? { '.svc-ci.yml': config } : config })
  const runner = await addRunner(world, owner, project.id, more.runner)
  return { project, path: `/projects/${project.id}`, runner, owner }
}

/** Starts a pipeline; gives its id. */
export async function startPipeline(
  place: Pick<CiPlace, 'path' | 'owner'>,
  { by = place.owner, ...body }: { readonly by?: Caller; readonly [key: string]: unknown } = {},
): Promise<number> {
  const reply = await by.post(`${place.path}/pipeline`, { ref: 'main', ...body })
  if (reply.status !== 201) throw new Error(`no pipeline: ${JSON.stringify(reply.body)}`)
  return reply.body.id
}

/** The next job of a runner, which must be there. */
export async function takeJob({ runner }: Pick<CiPlace, 'runner'>): Promise<GivenJob> {
  const job = await runner.request()
  if (!job) throw new Error('no job')
  return job
}

/** Starts a pipeline and takes its first job. */
export async function startJob(place: CiPlace, more: Parameters<typeof startPipeline>[1] = {}) {
  const pipeline = await startPipeline(place, more)
  const job = await takeJob(place)
  return { pipeline, job, at: `${place.path}/jobs/${job.id}` }
}

/** The values of the variables that a runner was sent. */
export function variablesOf(job: GivenJob): ReadonlyMap<string, string> {
  const sent = job.variables as { key: string; value: string }[]
  return new Map(sent.map(({ key, value }) => [key, value]))
}

/** The jobs of a pipeline by name, those that count. */
export async function jobsByName(
  place: Pick<CiPlace, 'path' | 'owner'>,
  pipeline: number,
): Promise<Readonly<Record<string, { id: number; status: string; failure_reason?: string }>>> {
  const { body } = await place.owner.get(`${place.path}/pipelines/${pipeline}/jobs?per_page=100`)
  return Object.fromEntries((body as { name: string }[]).map((job) => [job.name, job])) as never // as asked
}

/** A zip file of texts. */
export async function zipOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const zip = archiver('zip')
  const chunks: Buffer[] = []
  zip.on('data', (chunk: Buffer) => chunks.push(chunk))
  for (const [name, content] of Object.entries(files)) zip.append(content, { name })
  const ended = once(zip, 'end')
  await zip.finalize()
  await ended
  return Buffer.concat(chunks)
}
