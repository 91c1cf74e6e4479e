import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import busboy from 'busboy'
import type { Job } from '../../src/runner/job.ts'
import { shellExecutor } from '../../src/runner/shell-executor.ts'
import { usualUnpackLimits } from '../../src/runner/unpack-room.ts'
import { runWorker } from '../../src/runner/worker.ts'

/** A call that a runner made. */
export interface Call {
  readonly method: string
  /** Below `/api/v4`. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** What is answered in the place of what would be: `drop` cuts the connection off. */
export type Answer =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: Buffer }
  | 'drop'

export interface SentFile {
  readonly name: string
  readonly type: string | null
  readonly format: string | null
  readonly expireIn: string | null
  readonly bytes: Buffer
}

/** A server of the runner protocol that gives jobs written by hand, and keeps what comes of them. */
export class FakeServer {
  readonly #server: Server
  readonly waiting: Job[] = []
  readonly calls: Call[] = []
  readonly logs = new Map<number, Buffer>()
  /** The ends that were reported, as JSON. */
  readonly ends: Record<string, unknown>[] = []
  readonly files: SentFile[] = []
  /** The artifacts of earlier jobs. */
  readonly archives = new Map<number, Buffer>()
  /** Decides on an answer before all else. */
  answer: (call: Call) => Answer | undefined = () => undefined

  constructor() {
    this.#server = createServer((request, response) => {
      this.#take(request, response).catch(() => response.destroy())
    })
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}` // it listens
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://x')
    const call: Call = {
      method: request.method ?? '',
      path: url.pathname.replace('/api/v4', ''),
      query: url.searchParams,
      headers: request.headers,
      body: await buffer(request),
    }
    this.calls.push(call)
    const answer = this.answer(call) ?? (await this.#usual(call))
    if (answer === 'drop') {
      request.socket.destroy()
      return
    }
    // It asks for the log of a job as often as a runner can send it.
    const usual = { 'Job-Status': 'running', 'X-Svc-Trace-Update-Interval': '0.1' }
    response.writeHead(answer.status, { ...usual, ...answer.headers })
    response.end(answer.body)
  }

  async #usual(call: Call): Promise<Answer> {
    const { method, path, body } = call
    if (path === '/runners/verify') return { status: 200, body: Buffer.from('{}') }
    if (path === '/jobs/request') {
      const job = this.waiting.shift()
      return job ? { status: 201, body: Buffer.from(JSON.stringify(job)) } : { status: 204 }
    }
    const id = Number(/^\/jobs\/(\d+)/.exec(path)?.[1])
    if (method === 'PATCH') return this.#append(id, call)
    if (method === 'PUT') {
      const report = JSON.parse(body.toString()) as Record<string, unknown>
      if (report.state !== 'running') this.ends.push(report)
      return { status: 200, body: Buffer.from('200') }
    }
    if (method === 'POST') {
      this.files.push(await fileOf(call))
      return { status: 201, body: Buffer.from('201') }
    }
    const archive = this.archives.get(id)
    return archive ? { status: 200, body: archive } : { status: 404 }
  }

  #append(id: number, { headers, body }: Call): Answer {
    const log = this.logs.get(id) ?? Buffer.alloc(0)
    const start = Number.parseInt(String(headers['content-range']), 10)
    if (start !== log.length) return { status: 416, headers: { Range: `0-${log.length}` } }
    const longer = Buffer.concat([log, body])
    this.logs.set(id, longer)
    return { status: 202, headers: { Range: `0-${longer.length}` } }
  }

  /** What came of a log, as text. */
  log(id: number): string {
    return (this.logs.get(id) ?? Buffer.alloc(0)).toString('utf8')
  }
}

async function fileOf({ headers, body, query }: Call): Promise<SentFile> {
  const form = busboy({ headers })
  const found = new Promise<{ name: string; bytes: Buffer }>((resolve, reject) => {
    form.on('file', (_, stream, { filename }) => {
      buffer(stream).then((bytes) => resolve({ name: filename ?? '', bytes }), reject)
    })
    form.on('error', reject)
  })
  form.end(body)
  return {
    ...(await found),
    type: query.get('artifact_type'),
    format: query.get('artifact_format'),
    expireIn: query.get('expire_in'),
  }
}

let lastId = 0

/** A job of these lines, without sources, and whatever more is said of it. */
export function jobOf(
  script: readonly string[],
  { variables = {}, after, ...more }: JobOptions = {},
): Job {
  lastId += 1
  const all: Record<string, string | Variable> = { GIT_STRATEGY: 'none', ...variables }
  return {
    id: lastId,
    token: `svccbt-token-of-job-${lastId}`,
    job_info: { name: 'x', project_id: 7, project_name: 'p', project_full_path: 'a/p' },
    git_info: { repo_url: '', ref: 'main', sha: '', refspecs: [], depth: 20 },
    runner_info: { timeout: 3600 },
    variables: Object.entries(all).map(([key, value]) =>
      typeof value === 'string' ? { key, value } : { key, ...value },
    ),
    steps: [
      { name: 'script', script, when: 'on_success' },
      ...(after ? [{ name: 'after_script', script: after, when: 'always' }] : []),
    ],
    ...more,
  }
}

type Variable = Omit<Job['variables'][number], 'key'>

export interface JobOptions extends Partial<Omit<Job, 'variables'>> {
  readonly variables?: Readonly<Record<string, string | Variable>>
  readonly after?: readonly string[]
}

/** A runner for a fake server, with folders of its own. */
export interface FakeRunner {
  readonly server: FakeServer
  readonly folder: string
  readonly url: string
  /** Runs jobs to their end, one after the other or several at a time. */
  run(jobs: readonly Job[], more?: Partial<Parameters<typeof runWorker>[0]>): Promise<void>
  close(): Promise<void>
}

export async function openFakeRunner(): Promise<FakeRunner> {
  const server = new FakeServer()
  const url = await server.listen()
  const folder = await mkdtemp(join(tmpdir(), 'fake-runner-'))
  const never = new AbortController().signal
  return {
    server,
    folder,
    url,
    async run(jobs, more = {}) {
      server.waiting.push(...jobs)
      await runWorker({
        url,
        token: 'svcrt-token-of-runner',
        executor: shellExecutor,
        folder,
        concurrent: 1,
        limits: { memory: 0, processes: 0 },
        unpack: usualUnpackLimits,
        version: '1.2.3',
        jobs: jobs.length,
        stop: never,
        kill: never,
        say: () => undefined,
        ...more,
      })
    },
    async close() {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
