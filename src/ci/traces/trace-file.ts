import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../../base/config.ts'

/** The growing log of a running job. */
export function tracePath(config: Pick<Config, 'data'>, jobId: number): string {
  return join(config.data, 'traces', String(jobId % 256), `${jobId}.log`)
}

/** Opens the log of a job for reading and writing at any place; made when there is none. */
export async function openTrace(config: Pick<Config, 'data'>, jobId: number): Promise<FileHandle> {
  const path = tracePath(config, jobId)
  try {
    return await open(path, 'r+')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  return await open(path, 'a+', 0o600).then(async (made) => {
    await made.close()
    return await open(path, 'r+')
  })
}

export async function traceLength(config: Pick<Config, 'data'>, jobId: number): Promise<number> {
  const found = await stat(tracePath(config, jobId)).catch(() => undefined)
  return found?.size ?? 0
}

export async function removeTraceFile(config: Pick<Config, 'data'>, jobId: number): Promise<void> {
  await rm(tracePath(config, jobId), { force: true })
}

/** The jobs that have a growing log. */
export async function listTraceFiles(config: Pick<Config, 'data'>): Promise<number[]> {
  const found = await readdir(join(config.data, 'traces'), { recursive: true }).catch(() => [])
  return found.flatMap((path) => /(?:^|\/)(\d+)\.log$/.exec(path)?.slice(1).map(Number) ?? [])
}
