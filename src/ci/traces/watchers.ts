import { LRUCache } from 'lru-cache'

/** Jobs whose log somebody has read lately: their runners send it more often. */
const watched = new LRUCache<number, true>({ max: 10_000, ttl: 60_000 })

const WATCHED_SECONDS = 3
const UNWATCHED_SECONDS = 60

export function noteWatched(jobId: number): void {
  watched.set(jobId, true)
}

/** Seconds after which the runner of a job is to send more of its log. */
export function updateInterval(jobId: number): number {
  return watched.has(jobId) ? WATCHED_SECONDS : UNWATCHED_SECONDS
}
