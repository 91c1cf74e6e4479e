import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Executor } from './executor.ts'
import type { Job } from './job.ts'
import type { Limits } from './processes.ts'
import { runJob } from './run-job.ts'
import { Server } from './server.ts'
import { type Slot, takeSlot } from './slots.ts'
import type { UnpackLimits } from './unpack-room.ts'

const AFTER_NOTHING_MS = 250
const AFTER_FAULT_MS = 5000

export interface WorkerOptions {
  readonly url: string
  readonly token: string
  readonly executor: Executor
  readonly folder: string
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

/** Asks a server for jobs and runs them, as many at a time as told, until it is stopped and the last has ended. */
export async function runWorker(options: WorkerOptions): Promise<number> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 })
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
    const one = runOne(next, server, options).finally(() => running.delete(one))
    running.add(one)
  }
  await Promise.all(running)
  return taken
}

/** Waits for the server to be there; ends when it does not know the token. */
async function assertKnown(server: Server, { stop, say }: WorkerOptions): Promise<void> {
  for (let attempt = 0; !stop.aborted; attempt += 1) {
    try {
      if (await server.verify()) return
      throw new RefusedError('the server does not know this token')
    } catch (error) {
      if (error instanceof RefusedError) throw error
      if (attempt === 0) say('The server cannot be reached; trying again')
      await pause(AFTER_FAULT_MS, stop)
    }
  }
}

class RefusedError extends Error {}

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

async function runOne({ job, place }: Next, server: Server, options: WorkerOptions): Promise<void> {
  options.say(`Job ${job.id} of project ${job.job_info.project_id} begins`)
  try {
    const slot = place.number
    const { executor, folder, limits, unpack, version, kill: signal } = options
    await runJob(job, { server, executor, folder, limits, unpack, version, slot, signal })
    options.say(`Job ${job.id} has ended`)
  } catch (error) {
    options.say(`Job ${job.id} broke off: ${error instanceof Error ? error.stack : String(error)}`)
  } finally {
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
