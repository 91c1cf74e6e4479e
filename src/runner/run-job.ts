import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../base/clock.ts'
import type { Executor, JobPlace } from './executor.ts'
import {
  closeWorkspace,
  fileOfVariable,
  openWorkspace,
  type Workspace,
  writeFileVariables,
} from './folder/workspace.ts'
import { type FailureReason, type Job, JobFailure } from './job.ts'
import { gitOfJob, type JobGit, listUntracked } from './job-git.ts'
import type { ControlGroups } from './processes/control-groups.ts'
import { JobProcesses } from './processes/job-processes.ts'
import type { Ended, Limits } from './processes/run-process.ts'
import { sectionEnd, sectionStart, shellScript } from './script.ts'
import type { Server } from './server.ts'
import { getSources } from './sources.ts'
import { Trace } from './trace.ts'
import {
  downloadArtifacts,
  restoreCaches,
  saveCaches,
  type Transfer,
  uploadArtifacts,
} from './transfer.ts'
import type { UnpackLimits } from './unpack-room.ts'
import { Variables } from './variables.ts'

const AFTER_SCRIPT_MS = 5 * 60_000
const CLEAN_UP_MS = 10 * 60_000
const REPORT_FOR_MS = 15 * 60_000

/** What jobs are run with. */
export interface JobSettings {
  readonly server: Server
  readonly executor: Executor
  readonly folder: string
  readonly limits: Limits
  readonly unpack: UnpackLimits
  /** Hold the processes of jobs, where there are such. */
  readonly groups: ControlGroups | undefined
  readonly version: string
  /** Keeps jobs apart that run at the same time. */
  readonly slot: number
  /** Aborts when the operator wants jobs to end at once. */
  readonly signal: AbortSignal
}

/** Runs one job from the first line of its log to its end, and reports all of it to the server. */
export async function runJob(job: Job, settings: JobSettings): Promise<void> {
  const workspace = await openWorkspace(settings.folder, settings.slot, job)
  const processes = new JobProcesses(`${process.pid}-${job.id}`, settings.groups?.make())
  try {
    await new JobRun(job, settings, { workspace, processes }).perform()
  } finally {
    await processes.close()
    await closeWorkspace(workspace)
  }
}

interface Outcome {
  readonly state: 'success' | 'failed'
  readonly reason?: FailureReason
  readonly exitCode?: number | undefined
}

class JobRun {
  readonly #processes: JobProcesses
  readonly #job: Job
  readonly #settings: JobSettings
  readonly #workspace: Workspace
  readonly #variables: Variables
  /** Ends the scripts; what comes after them still runs. */
  readonly #scripts = new AbortController()
  /** Ends everything. */
  readonly #all = new AbortController()
  #isTimedOut = false
  #isLogTooLong = false
  #trace!: Trace

  constructor(
    job: Job,
    settings: JobSettings,
    { workspace, processes }: { readonly workspace: Workspace; readonly processes: JobProcesses },
  ) {
    this.#job = job
    this.#settings = settings
    this.#workspace = workspace
    this.#processes = processes
    this.#variables = new Variables(job.variables, (key) => fileOfVariable(workspace, key))
    const own = {
      CI_PROJECT_DIR: workspace.project,
      CI_BUILDS_DIR: workspace.builds,
      CI_CONCURRENT_ID: String(settings.slot),
      CI_CONCURRENT_PROJECT_ID: String(settings.slot),
      CI_RUNNER_VERSION: settings.version,
      CI_RUNNER_REVISION: settings.version,
      CI_RUNNER_EXECUTABLE_ARCH: `${process.platform}/${process.arch}`,
      CI_SERVER: 'yes',
      [settings.executor.name === 'shell' ? 'CI_SHARED_ENVIRONMENT' : 'CI_DISPOSABLE_ENVIRONMENT']:
        'true',
    }
    for (const [key, value] of Object.entries(own)) this.#variables.set(key, value)
  }

  async perform(): Promise<void> {
    const { server, signal } = this.#settings
    this.#trace = await Trace.open(server, this.#job, {
      path: join(this.#workspace.temporary, 'trace.log'),
      masked: [this.#job.token, ...this.#variables.masked()],
      debug: this.#variables.isOn('CI_DEBUG_TRACE'),
      orders: {
        cancel: () => this.#scripts.abort(),
        abort: () => this.#abortAll(),
        tooLong: () => {
          this.#isLogTooLong = true
          this.#scripts.abort()
        },
      },
    })
    const timer = setTimeout(
      () => {
        this.#isTimedOut = true
        this.#scripts.abort()
      },
      Math.min(this.#job.runner_info.timeout * 1000, 2 ** 31 - 1),
    )
    const stop = () => this.#abortAll()
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    try {
      const outcome = await this.#outcome()
      this.#say(outcome.state === 'success' ? 'Job succeeded' : `ERROR: job failed`)
      await this.#trace.finish()
      await this.#report(outcome)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      await this.#trace.close()
    }
  }

  #abortAll(): void {
    this.#scripts.abort()
    this.#all.abort()
  }

  #say(line: string): void {
    this.#trace.line(line)
  }

  async #outcome(): Promise<Outcome> {
    try {
      const failure = await this.#runAll()
      return failure ?? { state: 'success' }
    } catch (error) {
      // What was cut off fails for many reasons; that it was cut off is the one that counts.
      const cutOff = this.#scripts.signal.aborted ? this.#failureOf(undefined) : undefined
      if (cutOff) return cutOff
      if (error instanceof JobFailure) {
        this.#say(`ERROR: ${error.message}`)
        return { state: 'failed', reason: error.reason, exitCode: error.exitCode }
      }
      this.#say(`ERROR: ${error instanceof Error ? error.message : String(error)}`)
      return { state: 'failed', reason: 'runner_system_failure' }
    }
  }

  /** Undefined when all went well. */
  async #runAll(): Promise<Outcome | undefined> {
    const { executor, limits, version } = this.#settings
    this.#say(`Running with gitstead runner ${version} by the ${executor.name} executor`)
    await writeFileVariables(this.#workspace, this.#variables)
    const place = await this.#section('prepare_executor', 'Preparing the executor', () =>
      executor.open({
        job: this.#job,
        workspace: this.#workspace,
        env: this.#variables.environment(),
        limits,
        processes: this.#processes,
        signal: this.#scripts.signal,
        say: (line) => this.#say(line),
        expand: (text) => this.#variables.expand(text),
        ...this.#output(),
      }),
    )
    if (!place) return this.#stopped()
    try {
      return await this.#runIn(place)
    } finally {
      await place.close()
    }
  }

  async #runIn(place: JobPlace): Promise<Outcome | undefined> {
    const transfer = this.#transfer()
    await this.#prepare(place, transfer)
    const failure = await this.#runSteps(place)
    await this.#afterScript(place, failure)
    const outcome = failure === undefined ? 'success' : 'failure'
    if (this.#all.signal.aborted) return failure ?? this.#stopped()
    await this.#section('archive_cache', 'Saving caches', () => saveCaches(transfer, outcome), {
      unless: (this.#job.cache ?? []).length === 0,
    })
    const isSent = await this.#section(
      'upload_artifacts_on_success',
      'Uploading artifacts',
      () => this.#inTime(uploadArtifacts(transfer, outcome)),
      { unless: (this.#job.artifacts ?? []).length === 0 },
    )
    if (isSent === false && !failure) {
      return { state: 'failed', reason: 'runner_system_failure' }
    }
    return failure
  }

  /** False when it takes too long. */
  async #inTime(work: Promise<boolean>): Promise<boolean> {
    const timer = new AbortController()
    const late = sleep(CLEAN_UP_MS, false, { signal: timer.signal }).catch(() => false)
    try {
      return await Promise.race([work, late])
    } finally {
      timer.abort()
    }
  }

  async #prepare(place: JobPlace, transfer: Transfer): Promise<void> {
    const hook = (this.#job.hooks ?? []).find((one) => one.name === 'pre_get_sources_script')
    if (hook) await this.#must(place, hook.script)
    await this.#section('get_sources', 'Getting source from Git repository', () =>
      getSources(this.#job, this.#variables, this.#workspace.project, {
        git: this.#git(),
        awaitServer: () => this.#settings.server.back(this.#scripts.signal),
        signal: this.#scripts.signal,
        say: (line) => this.#say(line),
      }),
    )
    await this.#section('restore_cache', 'Restoring caches', () => restoreCaches(transfer), {
      unless: (this.#job.cache ?? []).length === 0,
    })
    const isThere = await this.#section(
      'download_artifacts',
      'Downloading artifacts',
      () => downloadArtifacts(transfer),
      { unless: (this.#job.dependencies ?? []).length === 0 },
    )
    if (isThere === false) {
      throw new JobFailure('runner_system_failure', 'artifacts of an earlier job are not there')
    }
  }

  async #must(place: JobPlace, script: readonly string[]): Promise<void> {
    const { code } = await this.#script(place, script, this.#scripts.signal)
    if (code !== 0) throw new JobFailure('script_failure', `exit code ${code}`, code)
  }

  async #runSteps(place: JobPlace): Promise<Outcome | undefined> {
    let failure: Outcome | undefined
    for (const step of this.#job.steps.filter((one) => one.name !== 'after_script')) {
      if (failure && step.when !== 'always') continue
      const title = `Executing "step_${step.name}" stage of the job script`
      const ended = await this.#section(`step_${step.name}`, title, () =>
        this.#script(place, step.script, this.#scripts.signal),
      )
      failure ??= this.#failureOf(ended)
    }
    return failure
  }

  #failureOf(ended: Ended | undefined): Outcome | undefined {
    if (this.#isLogTooLong) return { state: 'failed', reason: 'trace_size_exceeded' }
    if (this.#isTimedOut) {
      this.#say('ERROR: the time of the job is over')
      return { state: 'failed', reason: 'job_execution_timeout' }
    }
    if (this.#scripts.signal.aborted) return this.#stopped()
    if (ended?.exceeded) {
      this.#say(`ERROR: the job took more ${ended.exceeded} than it may`)
      return { state: 'failed', reason: 'script_failure', exitCode: ended.code }
    }
    if (!ended || ended.code === 0) return undefined
    this.#say(`ERROR: exit code ${ended.code}`)
    return { state: 'failed', reason: 'script_failure', exitCode: ended.code }
  }

  #stopped(): Outcome {
    return this.#settings.signal.aborted
      ? { state: 'failed', reason: 'runner_interrupted' }
      : { state: 'failed', reason: 'script_failure' }
  }

  /** Runs however the script ended, in a time of its own; it changes nothing about the result. */
  async #afterScript(place: JobPlace, failure: Outcome | undefined): Promise<void> {
    const after = this.#job.steps.find((one) => one.name === 'after_script')
    if (!after || after.script.length === 0 || this.#all.signal.aborted) return
    const isCanceled = this.#scripts.signal.aborted && !this.#isTimedOut
    this.#variables.set('CI_JOB_STATUS', isCanceled ? 'canceled' : failure ? 'failed' : 'success')
    const signal = AbortSignal.any([this.#all.signal, AbortSignal.timeout(AFTER_SCRIPT_MS)])
    const ended = await this.#section('after_script', 'Running after_script', () =>
      this.#script(place, after.script, signal),
    )
    if (ended && ended.code !== 0) this.#say('WARNING: after_script failed')
  }

  async #script(place: JobPlace, lines: readonly string[], signal: AbortSignal): Promise<Ended> {
    const script = shellScript(lines, {
      folder: this.#workspace.project,
      processes: this.#settings.limits.processes,
      trace: this.#variables.isOn('CI_DEBUG_TRACE'),
    })
    return await place.run({
      script,
      env: this.#variables.environment(),
      signal,
      ...this.#output(),
    })
  }

  #output() {
    return {
      output: (piece: Buffer) => this.#trace.write(piece),
      drained: () => this.#trace.drained(),
    }
  }

  #git(): JobGit {
    const processes = this.#processes
    const job = { processes, signal: this.#scripts.signal, ...this.#output() }
    return gitOfJob(this.#job.git_info.repo_url, job)
  }

  #transfer(): Transfer {
    return {
      job: this.#job,
      server: this.#settings.server,
      variables: this.#variables,
      workspace: this.#workspace,
      unpack: this.#settings.unpack,
      say: (line) => this.#say(line),
      signal: this.#scripts.signal,
      untracked: () => listUntracked(this.#git(), this.#workspace),
    }
  }

  async #section<T>(
    name: string,
    title: string,
    work: () => Promise<T>,
    { unless = false }: { readonly unless?: boolean } = {},
  ): Promise<T | undefined> {
    if (unless || this.#all.signal.aborted) return undefined
    this.#trace.write(sectionStart(name, title, nowSeconds()))
    try {
      return await work()
    } finally {
      this.#trace.write(sectionEnd(name, nowSeconds()))
    }
  }

  /** Reports how the job ended until the server has taken it, for some minutes. */
  async #report(outcome: Outcome): Promise<void> {
    const until = performance.now() + REPORT_FOR_MS
    for (let wait = 500; performance.now() < until; wait = Math.min(wait * 2, 30_000)) {
      try {
        const answer = await this.#settings.server.end(this.#job, {
          ...outcome,
          checksum: this.#trace.checksum,
          size: this.#trace.size,
        })
        if (
          answer.status === 200 ||
          (answer.status >= 400 && answer.status < 500 && answer.status !== 412)
        )
          return
        if (answer.status === 412) await this.#trace.resend()
      } catch {
        // The server is away; it may come back.
      }
      await sleep(wait)
    }
  }
}

function nowSeconds(): number {
  return Math.floor(Date.parse(systemClock()) / 1000)
}
