import { LRUCache } from 'lru-cache'
import type { Config } from '../../base/config.ts'

const WATCHED_SECONDS = 3
const UNWATCHED_SECONDS = 60

/** Jobs of each server whose log somebody has read lately: their runners send it more often. */
const watched = new WeakMap<Config, LRUCache<number, true>>()

export function noteWatched({ config }: { readonly config: Config }, jobId: number): void {
  const jobs = watched.get(config) ?? new LRUCache({ max: 10_000, ttl: 60_000 })
  watched.set(config, jobs.set(jobId, true))
}

/** Seconds after which the runner of a job is to send more of its log. */
export function updateInterval({ config }: { readonly config: Config }, jobId: number): number {
  return watched.get(config)?.has(jobId) ? WATCHED_SECONDS : UNWATCHED_SECONDS
}
