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
