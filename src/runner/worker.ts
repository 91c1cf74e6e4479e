import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolder } from '../base/make-folder.ts'
import { StartError } from '../base/start-error.ts'
import { cloneFrom } from './clone-url.ts'
import type { Executor } from './executor.ts'
import { assertNotAlone, takeAlone } from './folder/alone.ts'
import { noteJob, reportLostJobs } from './folder/lost-jobs.ts'
import { type Slot, takeSlot } from './folder/slots.ts'
import type { Job } from './job.ts'
import { type ControlGroups, openControlGroups } from './processes/control-groups.ts'
import type { Limits } from './processes/run-process.ts'
import { runJob } from './run-job.ts'
import { Server } from './server.ts'
import type { UnpackLimits } from './unpack-room.ts'

const AFTER_NOTHING_MS = 250
const AFTER_FAULT_MS = 5000

export interface WorkerOptions {
  readonly url: string
  readonly token: string
  readonly executor: Executor
  readonly folder: string
  /** Whether no other runner may use the folder. */
  readonly alone?: boolean
  /** Where jobs clone from, when that is not the address that the server names. */
  readonly cloneUrl?: string | undefined
  readonly concurrent: number
  readonly limits: Limits
  readonly unpack: UnpackLimits
  readonly version: string
  /** Jobs after which the program ends; 0 for no end. */
  readonly jobs: number
  /** Aborts when no more jobs are to be taken. */
  readonly stop: AbortSignal
  /** Aborts when those that run are to end at once. */
  readonly kill: AbortSignal
  readonly say: (line: string) => void
}

/** Asks a server for jobs and runs them, as many at a time as configured, until it is stopped and the last has ended. */
export async function runWorker(options: WorkerOptions): Promise<number> {
  makeFolder(options.folder)
  if (!options.alone) await assertNotAlone(options.folder)
  const release = options.alone ? await takeAlone(options.folder, options) : undefined
  try {
    return await work(options)
  } finally {
    await release?.()
  }
}

async function work(options: WorkerOptions): Promise<number> {
  const server = new Server(options.url, {
    token: options.token,
    systemId: await systemIdOf(options.folder),
    info: {
      name: 'gitstead',
      version: options.version,
      platform: process.platform,
      architecture: process.arch,
      executor: options.executor.name,
    },
  })
  await assertKnown(server, options)
  const groups = await openControlGroups()
  await reportLostJobs(options.folder, options.url, (job) => server.endLost(job)).catch(
    (error: Error) => options.say(`Jobs of a runner that was killed: ${error.message}`),
  )
  options.say(`Asks ${options.url} for jobs, runs up to ${options.concurrent} at a time`)
  const running = new Set<Promise<void>>()
  const stopped = aborted(options.stop)
  let taken = 0
  while (!options.stop.aborted && (options.jobs === 0 || taken < options.jobs)) {
    if (running.size >= options.concurrent) {
      await Promise.race([...running, stopped])
      continue
    }
    const next = await nextJob(server, options)
    if (!next) continue
    taken += 1
    const one = runOne(next, { server, groups }, options).finally(() => running.delete(one))
    running.add(one)
  }
  await Promise.all(running)
  return taken
}

/** Waits for the server to be there; ends when it does not know the token. */
async function assertKnown(server: Server, { url, stop, say }: WorkerOptions): Promise<void> {
  let said = ''
  while (!stop.aborted) {
    try {
      if (await server.verify()) return
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (reason !== said) say(`${reason}; trying again`)
      said = reason
      await pause(AFTER_FAULT_MS, stop)
      continue
    }
    throw new StartError(
      `the server at ${url} does not know this token: POST /user/runners gives one for GITSTEAD_RUNNER_TOKEN`,
    )
  }
}

/** A job, and the place where it runs: while a full disk leaves none, no job is taken. */
interface Next {
  readonly job: Job
  readonly place: Slot
}

async function nextJob(
  server: Server,
  { stop, say, folder }: WorkerOptions,
): Promise<Next | undefined> {
  try {
    const place = await takeSlot(folder)
    let job: Job | undefined
    try {
      job = await server.requestJob(stop)
    } finally {
      if (!job) await place.release()
    }
    if (job) return { job, place }
    await pause(AFTER_NOTHING_MS, stop)
    return undefined
  } catch (error) {
    if (stop.aborted) return undefined
    say(`No job: ${error instanceof Error ? error.message : String(error)}`)
    await pause(AFTER_FAULT_MS, stop)
    return undefined
  }
}

/** What all jobs of a runner share. */
interface Shared {
  readonly server: Server
  readonly groups: ControlGroups | undefined
}

async function runOne({ job, place }: Next, shared: Shared, options: WorkerOptions): Promise<void> {
  options.say(`Job ${job.id} of project ${job.job_info.project_id} begins`)
  const forget = await noteJob(options.folder, options.url, job)
  try {
    const given = cloneFrom(options.cloneUrl, job)
    await runJob(given, { ...options, ...shared, slot: place.number, signal: options.kill })
    options.say(`Job ${job.id} has ended`)
  } catch (error) {
    options.say(`Job ${job.id} broke off: ${error instanceof Error ? error.stack : String(error)}`)
  } finally {
    await forget().catch(() => undefined)
    // One that stays is free again when this process ends.
    await place.release().catch(() => undefined)
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined)
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** By this name the server knows the machine again. */
async function systemIdOf(folder: string): Promise<string> {
  const path = join(folder, 'system-id')
  const known = await readFile(path, 'utf8').catch(() => '')
  if (/^[\w.-]{1,64}$/.test(known.trim())) return known.trim()
  const name = hostname()
    .replaceAll(/[^\w-]/g, '')
    .slice(0, 40)
  const made = `r_${name}_${randomBytes(6).toString('hex')}`
  await writeFile(path, `${made}\n`, { mode: 0o600 })
  return made
}
