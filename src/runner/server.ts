import { openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LostJob } from './folder/lost-jobs.ts'
import { type FailureReason, type Job, readJob } from './job.ts'
import { piecesOf, skip, TooLongAnswerError, textOf } from './read-answer.ts'
import { UnreachableError } from './unreachable.ts'

const REQUEST_MS = 70_000
const TRANSFER_MS = 3_600_000
/** How long a server may be away while something is sent to it or fetched from it. */
const AWAY_MS = 120_000
const LONGEST_PAUSE_MS = 4000
/** Bytes of a job: servers keep all jobs of a pipeline below 50 million characters. */
const MOST_JOB = 64 * 1024 * 1024

/** What this program can do, as the protocol names it. */
const FEATURES = {
  variables: true,
  image: true,
  services: true,
  artifacts: true,
  cache: true,
  fallback_cache_keys: true,
  upload_multiple_artifacts: true,
  upload_raw_artifacts: true,
  refspecs: true,
  masking: true,
  raw_variables: true,
  artifacts_exclude: true,
  multi_build_steps: true,
  trace_reset: true,
  trace_checksum: true,
  trace_size: true,
  cancelable: true,
  cancel_gracefully: true,
  return_exit_code: true,
  two_phase_job_commit: true,
}

/** What the server answers when a job reports. */
export interface JobAnswer {
  readonly status: number
  /** `running`, `canceling`, `canceled` and so on. */
  readonly jobStatus: string | undefined
  /** Seconds until the server wants more. */
  readonly interval: number | undefined
  /** How much of the log the server has. */
  readonly received: number | undefined
}

export interface JobEndReport {
  readonly state: 'success' | 'failed'
  readonly reason?: FailureReason | undefined
  readonly exitCode?: number | undefined
  readonly checksum: string
  readonly size: number
}

/** A server that gives jobs, asked by the public protocol of runners. */
export class Server {
  readonly #base: string
  readonly #token: string
  readonly #systemId: string
  readonly #info: object
  #lastUpdate = ''

  constructor(
    url: string,
    given: { readonly token: string; readonly systemId: string; readonly info: object },
  ) {
    this.#base = `${url.replace(/\/+$/, '')}/api/v4`
    this.#token = given.token
    this.#systemId = given.systemId
    this.#info = { ...given.info, features: FEATURES }
  }

  /** Whether the server knows the token; rejects where nobody says so. */
  async verify(): Promise<boolean> {
    const body = { token: this.#token, system_id: this.#systemId }
    const response = await this.#send('POST', '/runners/verify', { body })
    await skip(response)
    if (response.ok) return true
    if (response.status === 401 || response.status === 403) return false
    throw new Error(`${this.#base} answers ${response.status} when asked whether it knows a runner`)
  }

  /** The next job, when there is one; waits for one as long as the server holds the request. */
  async requestJob(signal: AbortSignal): Promise<Job | undefined> {
    const body = {
      token: this.#token,
      system_id: this.#systemId,
      last_update: this.#lastUpdate,
      info: this.#info,
    }
    const headers = { 'RUNNER-TOKEN': this.#token }
    const response = await this.#send('POST', '/jobs/request', { body, headers, signal })
    const text = await textOf(response, MOST_JOB)
    this.#lastUpdate = headerOf(response, 'last-update') ?? this.#lastUpdate
    if (response.status === 201) return readJob(text)
    if (response.status === 204 || response.status === 409) return undefined
    throw new Error(`the server answers ${response.status} when asked for a job`)
  }

  /** Reports that a job runs. */
  async touch(job: Job): Promise<JobAnswer> {
    return await this.#update(job, { state: 'running' })
  }

  /** Reports how a job ended. */
  async end(job: Job, report: JobEndReport): Promise<JobAnswer> {
    return await this.#update(job, {
      state: report.state,
      ...(report.reason ? { failure_reason: report.reason } : {}),
      ...(report.exitCode === undefined ? {} : { exit_code: report.exitCode }),
      checksum: report.checksum,
      output: { checksum: report.checksum, bytesize: report.size },
    })
  }

  /** Reports that a job ended with the runner that had it. */
  async endLost({ id, token }: LostJob): Promise<void> {
    const body = { token, state: 'failed', failure_reason: 'runner_interrupted' }
    const headers = { 'JOB-TOKEN': token }
    await skip(await this.#send('PUT', `/jobs/${id}`, { body, headers }))
  }

  async #update(job: Job, more: object): Promise<JobAnswer> {
    const body = { token: job.token, info: this.#info, ...more }
    const headers = { 'JOB-TOKEN': job.token }
    return answerOf(await this.#send('PUT', `/jobs/${job.id}`, { body, headers }))
  }

  /** Sends the next bytes of a log; `debug` when it shows every variable, so that not everybody reads it. */
  async append(job: Job, start: number, bytes: Buffer, debug: boolean): Promise<JobAnswer> {
    const headers = {
      'JOB-TOKEN': job.token,
      'Content-Type': 'text/plain',
      'Content-Range': `${start}-${start + bytes.length - 1}`,
    }
    const path = `/jobs/${job.id}/trace?debug_trace=${debug}`
    return answerOf(await this.#send('PATCH', path, { raw: bytes, headers }))
  }

  /** Sends a file of a job; false when the server will not have it. */
  async upload(
    job: Job,
    file: { readonly path: string; readonly name: string },
    query: Readonly<Record<string, string>>,
  ): Promise<boolean> {
    const path = `/jobs/${job.id}/artifacts?${new URLSearchParams(query)}`
    const headers = { 'JOB-TOKEN': job.token }
    const response = await retried(async () => {
      const form = new FormData()
      form.append('file', await openAsBlob(file.path), file.name)
      return await this.#send('POST', path, { raw: form, headers, timeout: TRANSFER_MS })
    })
    await skip(response)
    return response.ok
  }

  /** Downloads the artifacts of an earlier job into a file, `most` bytes of it; false when there are none. */
  async download(
    from: { readonly id: number; readonly token: string },
    path: string,
    { signal, most }: { readonly signal: AbortSignal; readonly most: number },
  ): Promise<boolean> {
    const headers = { 'JOB-TOKEN': from.token }
    return await retried(async () => {
      const response = await this.#send('GET', `/jobs/${from.id}/artifacts`, {
        headers,
        signal,
        timeout: TRANSFER_MS,
      })
      if (response.status === 200) await writeFile(path, piecesOf(response, most))
      else await skip(response)
      return response
    }, signal).then((response) => response.status === 200)
  }

  /** Waits until the server answers again, for some minutes at most; whether it was away at all. */
  async back(signal: AbortSignal): Promise<boolean> {
    const until = performance.now() + AWAY_MS
    let wasAway = false
    while (!signal.aborted && performance.now() < until) {
      const answered = await this.verify().catch(() => undefined)
      if (answered !== undefined) break
      wasAway = true
      await sleep(500, undefined, { signal }).catch(() => undefined)
    }
    return wasAway
  }

  async #send(
    method: string,
    path: string,
    given: {
      readonly body?: object
      readonly raw?: Buffer | FormData
      readonly headers?: Readonly<Record<string, string>>
      readonly signal?: AbortSignal
      readonly timeout?: number
    },
  ): Promise<Response> {
    const timeout = AbortSignal.timeout(given.timeout ?? REQUEST_MS)
    const type = given.body ? { 'Content-Type': 'application/json' } : {}
    try {
      return await fetch(this.#base + path, {
        method,
        headers: { ...type, ...given.headers },
        body: given.body ? JSON.stringify(given.body) : rawBody(given.raw),
        signal: given.signal ? AbortSignal.any([timeout, given.signal]) : timeout,
      })
    } catch (error) {
      throw new UnreachableError(this.#base, error)
    }
  }
}

function rawBody(raw: Buffer | FormData | undefined): Uint8Array<ArrayBuffer> | FormData | null {
  if (raw === undefined) return null
  return raw instanceof FormData ? raw : new Uint8Array(raw)
}

/** Headers carry the word of their vendor in the middle; what is behind it is the same everywhere. */
function headerOf(response: Response, name: string): string | undefined {
  for (const [key, value] of response.headers) if (key.endsWith(`-${name}`)) return value
  return undefined
}

async function answerOf(response: Response): Promise<JobAnswer> {
  await skip(response)
  const interval = Number(headerOf(response, 'trace-update-interval'))
  const range = /^0-(\d+)$/.exec(response.headers.get('range') ?? '')
  return {
    status: response.status,
    jobStatus: response.headers.get('job-status') ?? undefined,
    interval: interval > 0 ? interval : undefined,
    received: range ? Number(range[1]) : undefined,
  }
}

/** Asks again when the server cannot be reached, breaks off, or says that it cannot just now. */
async function retried(ask: () => Promise<Response>, signal?: AbortSignal): Promise<Response> {
  const until = performance.now() + AWAY_MS
  for (let pause = 500; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      const response = await ask()
      if (response.status < 500 || performance.now() > until) return response
      await skip(response)
    } catch (error) {
      const isFinal = error instanceof TooLongAnswerError || signal?.aborted
      if (isFinal || performance.now() > until) throw error
    }
    await sleep(pause, undefined, { signal })
  }
}
