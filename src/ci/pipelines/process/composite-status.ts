import type { PipelineStatus } from '../../../store/schema/commits.ts'

/** A job or reported status, as far as the whole needs to know it. */
export interface StatusPart {
  readonly status: PipelineStatus
  readonly allow_failure: 0 | 1
}

const IGNORED: readonly PipelineStatus[] = ['failed', 'canceled', 'manual']

/**
 * What the jobs and statuses inside a pipeline add up to (docs/contract/D §1.15). Those that may fail count as passed when they
 * failed, and as nothing while nobody has started them.
 */
export function compositeStatus(parts: readonly StatusPart[]): PipelineStatus {
  const found = new Set(parts.map(countedStatus))
  const only = (...statuses: readonly PipelineStatus[]) =>
    [...found].every((status) => statuses.includes(status))
  if (only('skipped')) return 'skipped'
  if (only('success', 'skipped')) return 'success'
  if (only('created', 'skipped')) return 'created'
  if (only('preparing', 'created', 'skipped')) return 'preparing'
  if (only('pending', 'created', 'skipped')) return 'pending'
  if (only('success', 'skipped', 'canceled')) return 'canceled'
  if (found.has('canceling')) return 'canceling'
  if (found.has('running') || found.has('pending')) return 'running'
  const waits = (['waiting_for_resource', 'manual', 'scheduled', 'preparing'] as const).find(
    (status) => found.has(status),
  )
  if (waits) return waits
  return found.has('created') ? 'running' : 'failed'
}

function countedStatus({ status, allow_failure }: StatusPart): PipelineStatus {
  if (allow_failure === 0 || !IGNORED.includes(status)) return status
  return status === 'manual' ? 'skipped' : 'success'
}
