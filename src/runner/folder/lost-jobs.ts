import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isOrphaned, ownedName } from '../../base/process-mark.ts'
import type { Job } from '../job.ts'

/** A job that a runner had when it was killed: nobody else knows that it has ended. */
export interface LostJob {
  /** The server that gave it. */
  readonly url: string
  readonly id: number
  readonly token: string
}

/** Notes that a job runs; gives what forgets it. */
export async function noteJob(folder: string, url: string, job: Job): Promise<() => Promise<void>> {
  const jobs = join(folder, 'jobs')
  const path = join(jobs, ownedName(''))
  const lost: LostJob = { url, id: job.id, token: job.token }
  try {
    await mkdir(jobs, { recursive: true, mode: 0o700 })
    await writeFile(path, JSON.stringify(lost), { mode: 0o600 })
  } catch {
    // On a full disk: the server will learn by its own timeout should this process be killed.
  }
  return () => rm(path, { force: true })
}

/** Reports to a server the jobs that runners had when they were killed; those that it did not take stay noted. */
export async function reportLostJobs(
  folder: string,
  url: string,
  report: (job: LostJob) => Promise<void>,
): Promise<void> {
  const jobs = join(folder, 'jobs')
  const names = await readdir(jobs).catch(() => [])
  for (const path of names.filter(isOrphaned).map((name) => join(jobs, name))) {
    const lost = readLostJob(await readFile(path, 'utf8').catch(() => ''))
    if (lost && lost.url !== url) continue
    if (lost) await report(lost)
    await rm(path, { force: true })
  }
}

/** Undefined where it was not written to its end. */
function readLostJob(text: string): LostJob | undefined {
  try {
    return JSON.parse(text) as LostJob // written by us
  } catch {
    return undefined
  }
}
