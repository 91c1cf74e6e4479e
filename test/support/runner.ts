import { crc32 } from 'node:zlib'
import type { Caller, World } from './world.ts'

/** An answer of the runner protocol. */
export interface RunnerReply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever shape the server answers
  readonly body: any
}

/** A job that a runner was given. */
export interface GivenJob {
  readonly id: number
  readonly token: string
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly [key: string]: any
}

/** A runner that speaks the protocol over HTTP as stock programs do, and runs nothing. */
export class TestRunner {
  readonly base: string
  readonly token: string
  lastUpdate = ''
  features: Record<string, boolean> = { cancel_gracefully: true }

  constructor(base: string, token: string) {
    this.base = base
    this.token = token
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<RunnerReply> {
    const raw = body instanceof Uint8Array || body instanceof FormData
    const response = await fetch(`${this.base}/api/v4${path}`, {
      method,
      headers: { ...(raw ? {} : { 'Content-Type': 'application/json' }), ...headers },
      body:
        body === undefined
          ? null
          : raw
            ? (body as Uint8Array<ArrayBuffer> | FormData)
            : JSON.stringify(body),
    })
    const text = await response.text()
    let parsed: unknown = text
    try {
      parsed = JSON.parse(text)
    } catch {
      // Some answers are no JSON.
    }
    return { status: response.status, headers: response.headers, body: parsed }
  }

  /** Asks once; undefined when there is nothing. */
  async request(more: object = {}): Promise<GivenJob | undefined> {
    const reply = await this.ask(more)
    return reply.status === 201 ? (reply.body as GivenJob) : undefined
  }

  async ask(more: object = {}): Promise<RunnerReply> {
    const info = { name: 'test', version: '17.0.0', features: this.features }
    const reply = await this.call(
      'POST',
      '/jobs/request',
      { token: this.token, system_id: 's_1', info, ...more },
      { 'RUNNER-TOKEN': this.token },
    )
    this.lastUpdate = reply.headers.get('x-gitlab-last-update') ?? this.lastUpdate
    return reply
  }

  append(job: GivenJob, start: number, text: string): Promise<RunnerReply> {
    const bytes = new TextEncoder().encode(text)
    return this.call('PATCH', `/jobs/${job.id}/trace?debug_trace=false`, bytes, {
      'Content-Type': 'text/plain',
      'Content-Range': `${start}-${start + bytes.length - 1}`,
      'JOB-TOKEN': job.token,
    })
  }

  update(job: GivenJob, state: string, more: object = {}): Promise<RunnerReply> {
    const body = { token: job.token, state, ...more }
    return this.call('PUT', `/jobs/${job.id}`, body, { 'JOB-TOKEN': job.token })
  }

  /** Sends the log and the end of a job. */
  async finish(job: GivenJob, state: 'success' | 'failed', log = 'done\n', more: object = {}) {
    await this.append(job, 0, log)
    const bytes = Buffer.from(log)
    const checksum = `crc32:${crc32(bytes).toString(16).padStart(8, '0')}`
    return await this.update(job, state, {
      output: { checksum, bytesize: bytes.length },
      ...more,
    })
  }

  /** Asks whether artifacts of so many bytes would be taken. */
  mayUpload(job: GivenJob, filesize: number): Promise<RunnerReply> {
    const path = `/jobs/${job.id}/artifacts/authorize`
    return this.call('POST', path, { filesize }, { 'JOB-TOKEN': job.token })
  }

  upload(
    job: GivenJob,
    bytes: Uint8Array,
    query: Record<string, string> = {},
    filename = 'artifacts.zip',
  ): Promise<RunnerReply> {
    const form = new FormData()
    form.append('file', new Blob([Uint8Array.from(bytes)]), filename)
    const path = `/jobs/${job.id}/artifacts?${new URLSearchParams(query)}`
    return this.call('POST', path, form, { 'JOB-TOKEN': job.token })
  }
}

/** A runner of a project, made by one of its maintainers. */
export async function addRunner(
  world: World,
  maintainer: Caller,
  projectId: number,
  settings: object = {},
): Promise<TestRunner> {
  const reply = await maintainer.post('/user/runners', {
    runner_type: 'project_type',
    project_id: projectId,
    ...settings,
  })
  if (reply.status !== 201) throw new Error(`no runner: ${JSON.stringify(reply.body)}`)
  return new TestRunner(world.url, reply.body.token)
}
