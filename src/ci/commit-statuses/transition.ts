import { invalidText } from '../../base/problem.ts'
import type { PipelineStatus } from '../../store/schema/commits.ts'

/** What a caller may report. */
export const REPORTED = ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'] as const

export type Reported = (typeof REPORTED)[number]

interface Step {
  readonly event: string
  readonly from: readonly PipelineStatus[]
}

/** By which event a status is reached, and from where (docs/contract/B-resolved §2.5, D §1.8). */
const steps: Readonly<Record<Reported, Step>> = {
  pending: { event: 'enqueue', from: ['created'] },
  running: { event: 'run', from: ['created', 'pending'] },
  success: { event: 'success', from: ['created', 'pending', 'running'] },
  failed: { event: 'drop', from: ['created', 'pending', 'running'] },
  canceled: { event: 'cancel', from: ['created', 'pending', 'running'] },
  skipped: { event: 'skip', from: ['created', 'pending'] },
}

/** Refuses a status that can't follow; clients look for these words and take them for harmless. */
export function assertMayFollow(current: PipelineStatus, next: Reported): void {
  const { event, from } = steps[next]
  if (from.includes(current)) return
  throw invalidText(
    `Cannot transition status via :${event} from :${current} (Reason(s): Status cannot transition via "${event}")`,
  )
}
