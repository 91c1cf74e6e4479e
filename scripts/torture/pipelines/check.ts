import { readFile } from 'node:fs/promises'
import { type ApiRecord, asRecord, asRecords } from '../place/api.ts'
import { LOG_LINES, type Pipelines } from './project.ts'

const ENDED = ['success', 'failed', 'canceled', 'skipped']

async function listAll({ api, path }: Pipelines, list: string): Promise<ApiRecord[]> {
  const found: ApiRecord[] = []
  for (let page = 1; ; page += 1) {
    const { status, body } = await api.call('GET', `${path}${list}per_page=100&page=${page}`)
    if (status !== 200) throw new Error(`${list}: ${status} ${JSON.stringify(body)}`)
    const records = asRecords(body)
    found.push(...records)
    if (records.length < 100) return found
  }
}

/** The project's own pipelines, and those that their jobs started. */
async function listPipelines(pipelines: Pipelines): Promise<ApiRecord[]> {
  const own = await listAll(pipelines, '/pipelines?')
  const children = await listAll(pipelines, '/pipelines?source=parent_pipeline&')
  return [...new Map([...own, ...children].map((one) => [one.id, one])).values()]
}

/** Pipelines that go on. */
export async function listUnfinished(pipelines: Pipelines): Promise<string[]> {
  const open = (await listPipelines(pipelines)).filter((one) => !ENDED.includes(String(one.status)))
  return open.map((one) => `pipeline ${one.id} (${one.source}) is ${one.status}`)
}

/** What is wrong with the pipelines, once all have ended, and how many jobs there were. */
export async function checkPipelines(
  pipelines: Pipelines,
): Promise<{ readonly faults: string[]; readonly jobs: number }> {
  const all = await listPipelines(pipelines)
  const faults = missing(pipelines, all)
  const given = new Set<string>()
  let count = 0
  for (const pipeline of all) {
    const jobs = await listAll(pipelines, `/pipelines/${pipeline.id}/jobs?include_retried=true&`)
    count += jobs.length
    for (const job of jobs) given.add(String(job.id))
    // The first commit brings the configuration alone.
    if (pipeline.status === 'skipped' && pipeline.source === 'push') continue
    const wrong = isCanceled(pipelines, pipeline)
      ? jobs.filter((job) => !ENDED.includes(String(job.status))).map(stateOf)
      : await faultsOf(pipelines, pipeline, jobs)
    faults.push(...wrong.map((fault) => `pipeline ${pipeline.id}: ${fault}`))
  }
  const runs = (await readFile(pipelines.runs, 'utf8')).trim().split('\n')
  const twice = runs.filter((id, at) => runs.indexOf(id) !== at)
  faults.push(...twice.map((id) => `job ${id} ran twice`))
  faults.push(...runs.filter((id) => !given.has(id)).map((id) => `job ${id} is not known`))
  return { faults, jobs: count }
}

/** What was acknowledged and is not there. */
function missing({ ids, commits }: Pipelines, all: readonly ApiRecord[]): string[] {
  const known = new Set(all.map((one) => one.id))
  const shas = new Set(all.filter((one) => one.source === 'push').map((one) => one.sha))
  return [
    ...[...ids].filter((id) => !known.has(id)).map((id) => `pipeline ${id} is lost`),
    ...[...commits].filter((sha) => !shas.has(sha)).map((sha) => `${sha} has no pipeline`),
  ]
}

/** A cancel that got no answer may have been done, to the children too. */
function isCanceled({ canceled }: Pipelines, pipeline: ApiRecord): boolean {
  return canceled.has(Number(pipeline.id)) || pipeline.status === 'canceled'
}

const stateOf = (job: ApiRecord) =>
  `${job.name} (${job.id}) is ${job.status} ${job.failure_reason ?? ''}`

const EXPECTED: readonly string[] = [
  'again failed script_failure',
  'again success',
  'fails failed script_failure',
  'last success',
  'make success',
  'use 1/2 success',
  'use 2/2 success',
]

async function faultsOf(
  pipelines: Pipelines,
  pipeline: ApiRecord,
  jobs: readonly ApiRecord[],
): Promise<string[]> {
  const faults = pipeline.status === 'success' ? [] : [`is ${pipeline.status}`]
  const states = jobs.map((job) =>
    [job.name, job.status, job.failure_reason].filter((part) => part != null).join(' '),
  )
  const expected = pipeline.source === 'parent_pipeline' ? ['inner success'] : EXPECTED
  if (states.sort().join() !== expected.join()) faults.push(`its jobs are ${states.join(', ')}`)
  for (const job of jobs) {
    if (asRecord(job).status === 'success') faults.push(...(await logFaults(pipelines, job)))
  }
  return faults
}

/** A log must be whole: every line once, and in its order. */
async function logFaults({ api, path }: Pipelines, job: ApiRecord): Promise<string[]> {
  const { body } = await api.call('GET', `${path}/jobs/${job.id}/trace`)
  const log = String(body)
  const faults = log.endsWith('Job succeeded\n') ? [] : [`the log of ${job.id} has no end`]
  if (job.name !== 'make') return faults
  const lines = [...log.matchAll(/^line (\d+)$/gm)].map((found) => Number(found[1]))
  const isWhole = lines.length === LOG_LINES && lines.every((line, at) => line === at + 1)
  return isWhole ? faults : [...faults, `the log of ${job.id} has ${lines.length} lines`]
}
