import type { PipelineStatus } from '../../store/schema/commits.ts'

/** Every status that a pipeline or job may have. */
export const PIPELINE_STATUSES = [
  'created',
  'waiting_for_resource',
  'preparing',
  'pending',
  'running',
  'success',
  'failed',
  'canceling',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const satisfies readonly PipelineStatus[]

/** Those that may be asked for: nothing here waits for a callback, and clients ask for that too (docs/contract/D §1.15). */
export const ASKED_STATUSES = [...PIPELINE_STATUSES, 'waiting_for_callback'] as const
export type AskedStatus = (typeof ASKED_STATUSES)[number]
