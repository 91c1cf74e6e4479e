import type { PipelineStatus } from '../../../store/schema/commits.ts'

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

type End = 'success' | 'failed' | 'skipped'

/**
 * What the jobs that wait (`created`) become now, given how those before them stand; those that must go on waiting are
 * left out (docs/contract/B-resolved §5.4, D §5.2). Follows what one decision means for the next, and looks at each job and each
 * need once.
 */
export function nextStates(jobs: readonly JobState[]): ReadonlyMap<number, NextState> {
  return new Order(jobs).decideAll()
}

class Order {
  readonly #byName = new Map<string, JobState[]>()
  readonly #byPosition = new Map<number, JobState[]>()
  readonly #positions: readonly number[]
  readonly #decided = new Map<number, NextState>()
  readonly #ends = new Map<number, End | undefined>()
  readonly #stages = new Map<number, readonly (End | undefined)[]>()

  constructor(jobs: readonly JobState[]) {
    for (const job of jobs) {
      push(this.#byName, job.name, job)
      push(this.#byPosition, job.position, job)
    }
    this.#positions = [...this.#byPosition.keys()].sort((one, other) => one - other)
  }

  decideAll(): ReadonlyMap<number, NextState> {
    for (const position of this.#positions) {
      for (const job of this.#byPosition.get(position) ?? []) this.#decideInOrder(job)
    }
    return this.#decided
  }

  /** Decides what a job needs before the job: a chain of needs may be longer than the call stack. */
  #decideInOrder(job: JobState): void {
    const open = [job]
    const seen = new Set<number>()
    for (let at = open.at(-1); at; at = open.at(-1)) {
      const before = seen.has(at.id)
        ? []
        : this.#neededBy(at).filter(({ id }) => !this.#ends.has(id) && !seen.has(id))
      seen.add(at.id)
      if (before.length > 0) open.push(...before)
      else this.#endOf(open.pop() ?? at)
    }
  }

  #neededBy({ needs = [] }: JobState): readonly JobState[] {
    return needs.flatMap((name) => this.#byName.get(name) ?? [])
  }

  /** How a job ended for those after it; undefined while they must wait. */
  #endOf(job: JobState): End | undefined {
    if (this.#ends.has(job.id)) return this.#ends.get(job.id)
    // Jobs that wait for each other wait for ever.
    this.#ends.set(job.id, undefined)
    const next = job.status === 'created' ? this.#nextOf(job) : undefined
    if (next !== undefined) this.#decided.set(job.id, next)
    const end = endOf(next ?? job.status, job.allow_failure === 1)
    this.#ends.set(job.id, end)
    return end
  }

  #nextOf(job: JobState): NextState | undefined {
    const { needs } = job
    const ends = needs
      ? this.#neededBy(job).map((one) => this.#endOf(one))
      : this.#endsBefore(job.position)
    if (ends.includes(undefined)) return undefined
    const whole = wholeOf(ends, needs !== undefined)
    if (!admits(job.run_when, needs !== undefined).includes(whole)) return 'skipped'
    if (job.run_when === 'manual') return 'manual'
    return job.run_when === 'delayed' ? 'scheduled' : 'pending'
  }

  /** The different ends that the stages before a position have come to. */
  #endsBefore(position: number): readonly (End | undefined)[] {
    const known = this.#stages.get(position)
    if (known) return known
    const found = new Set<End | undefined>()
    for (const before of this.#positions) {
      if (before >= position) break
      for (const job of this.#byPosition.get(before) ?? []) found.add(this.#endOf(job))
    }
    const ends = [...found]
    this.#stages.set(position, ends)
    return ends
  }
}

function push<K>(map: Map<K, JobState[]>, key: K, job: JobState): void {
  const known = map.get(key)
  if (known) known.push(job)
  else map.set(key, [job])
}

function endOf(status: PipelineStatus, mayFail: boolean): End | undefined {
  if (status === 'success' || status === 'skipped') return status
  if (status === 'failed' || status === 'canceled') return mayFail ? 'success' : 'failed'
  // Manual jobs that may fail hold nobody up.
  return status === 'manual' && mayFail ? 'skipped' : undefined
}

function wholeOf(ends: readonly (End | undefined)[], byNeeds: boolean): End {
  if (ends.includes('failed')) return 'failed'
  if (ends.length === 0) return 'success'
  const isSkipped = byNeeds ? ends.includes('skipped') : ends.every((end) => end === 'skipped')
  return isSkipped ? 'skipped' : 'success'
}

/** A stage that was skipped stops no later stage; a need that was skipped does stop the job. */
function admits(when: JobState['run_when'], byNeeds: boolean): readonly End[] {
  if (when === 'on_failure') return ['failed']
  if (when === 'always') return ['success', 'failed', 'skipped']
  return byNeeds ? ['success'] : ['success', 'skipped']
}
