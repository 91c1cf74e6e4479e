import type { PipelineStatus } from '../../store/schema/commits.ts'

/** What the statuses inside a pipeline add up to. Those allowed to fail count as passed when they failed. */
export function compositeStatus(
  parts: readonly { readonly status: PipelineStatus; readonly allow_failure: 0 | 1 }[],
): PipelineStatus {
  const found = new Set(
    parts.map(({ status, allow_failure }) =>
      status === 'failed' && allow_failure === 1 ? 'success' : status,
    ),
  )
  const only = (...statuses: readonly PipelineStatus[]) =>
    [...found].every((status) => statuses.includes(status))
  if (only('skipped')) return 'skipped'
  if (only('success', 'skipped')) return 'success'
  if (only('created', 'skipped')) return 'created'
  if (only('pending', 'created', 'skipped')) return 'pending'
  if (only('success', 'skipped', 'failed', 'canceled')) {
    return found.has('failed') ? 'failed' : 'canceled'
  }
  if (only('success', 'skipped', 'manual')) return 'manual'
  return 'running'
}
