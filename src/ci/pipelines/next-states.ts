import type { PipelineStatus } from '../../store/schema/commits.ts'

/** A job as the order of a pipeline sees it. */
export interface JobState {
  readonly id: number
  readonly name: string
  readonly status: PipelineStatus
  readonly position: number
  readonly run_when: 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed'
  readonly allow_failure: 0 | 1
  /** Names of the jobs it waits for; undefined: the stages before its own. */
  readonly needs: readonly string[] | undefined
}

export type NextState = 'pending' | 'manual' | 'scheduled' | 'skipped'

/**
 * What the jobs that wait (`created`) become now, given how those before them stand; those that must go on waiting are
 * left out (spec B-resolved §5.4, D §5.2). Follows what one decision means for the next.
 */
export function nextStates(jobs: readonly JobState[]): ReadonlyMap<number, NextState> {
  const states = new Map(jobs.map((job) => [job.id, job.status]))
  const decided = new Map<number, NextState>()
  const waiting = jobs.filter((job) => job.status === 'created')
  for (let found = true; found; ) {
    found = false
    for (const job of waiting) {
      if (decided.has(job.id)) continue
      const next = nextOf(job, jobs, states)
      if (next === undefined) continue
      decided.set(job.id, next)
      states.set(job.id, next)
      found = true
    }
  }
  return decided
}

function nextOf(
  job: JobState,
  jobs: readonly JobState[],
  states: ReadonlyMap<number, PipelineStatus>,
): NextState | undefined {
  const { needs } = job
  const before = jobs.filter((one) =>
    needs ? needs.includes(one.name) : one.position < job.position,
  )
  const ends = before.map((one) => endOf(states.get(one.id) ?? one.status, one.allow_failure === 1))
  if (ends.includes(undefined)) return undefined
  const whole = wholeOf(ends, needs !== undefined)
  if (!admits(job.run_when, needs !== undefined).includes(whole)) return 'skipped'
  if (job.run_when === 'manual') return 'manual'
  return job.run_when === 'delayed' ? 'scheduled' : 'pending'
}

type End = 'success' | 'failed' | 'skipped'

/** How a job ended for those after it; undefined while they must wait. */
function endOf(status: PipelineStatus, mayFail: boolean): End | undefined {
  if (status === 'success' || status === 'skipped') return status
  if (status === 'failed' || status === 'canceled') return mayFail ? 'success' : 'failed'
  // Manual jobs that may fail hold nobody up.
  return status === 'manual' && mayFail ? 'skipped' : undefined
}

function wholeOf(ends: readonly (End | undefined)[], byNeeds: boolean): End {
  if (ends.includes('failed')) return 'failed'
  if (ends.length === 0) return 'success'
  const skipped = ends.filter((end) => end === 'skipped').length
  return (byNeeds ? skipped > 0 : skipped === ends.length) ? 'skipped' : 'success'
}

/** A stage that was skipped stops no later stage; a need that was skipped does stop the job. */
function admits(when: JobState['run_when'], byNeeds: boolean): readonly End[] {
  if (when === 'on_failure') return ['failed']
  if (when === 'always') return ['success', 'failed', 'skipped']
  return byNeeds ? ['success'] : ['success', 'skipped']
}
