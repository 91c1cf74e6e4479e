import { callApi } from '../call-api.ts'
import type { BenchServer } from '../server.ts'

/** A job that a runner was given. */
export interface GivenJob {
  readonly id: number
  readonly token: string
}

/** A runner of a project; its token. */
export async function addRunner(
  server: BenchServer,
  projectId: number,
  more: object = {},
): Promise<string> {
  const settings = { runner_type: 'project_type', project_id: projectId, ...more }
  const { body } = await callApi(server, 'POST', '/user/runners', settings)
  return (body as { token: string }).token
}

interface Asked {
  readonly last: string
  readonly job: GivenJob | undefined
}

/** Asks once for a job, as a runner that has seen the queue as `last` says. */
export async function ask(server: BenchServer, token: string, last: string): Promise<Asked> {
  const response = await fetch(`${server.url}/api/v4/jobs/request`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, last_update: last, info: {} }),
  })
  const text = await response.text()
  const header = response.headers.get('x-gitlab-last-update')
  return { last: header ?? last, job: response.status === 201 ? JSON.parse(text) : undefined }
}

/** Asks until there is a job. */
export async function nextJob(server: BenchServer, token: string, seen = ''): Promise<GivenJob> {
  for (let last = seen; ; ) {
    const answer = await ask(server, token, last)
    if (answer.job) return answer.job
    last = answer.last
  }
}

export async function endJob(server: BenchServer, job: GivenJob): Promise<void> {
  await callApi(server, 'PUT', `/jobs/${job.id}`, { token: job.token, state: 'success' })
}
