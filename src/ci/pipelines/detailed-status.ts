import { z } from 'zod'
import type { PipelineStatus } from '../../store/schema/commits.ts'

/** A status as people read it, with the names of its pictures. */
export const detailedStatusEntity = z.strictObject({
  icon: z.string(),
  text: z.string(),
  label: z.string(),
  group: z.string(),
  tooltip: z.string(),
  has_details: z.boolean(),
  details_path: z.string(),
  illustration: z.null(),
  favicon: z.string(),
})

const WORDS: Readonly<Record<PipelineStatus, readonly [text: string, label: string]>> = {
  created: ['Created', 'created'],
  waiting_for_resource: ['Waiting', 'waiting for resource'],
  preparing: ['Preparing', 'preparing'],
  pending: ['Pending', 'pending'],
  running: ['Running', 'running'],
  success: ['Passed', 'passed'],
  failed: ['Failed', 'failed'],
  canceling: ['Canceling', 'canceling'],
  canceled: ['Canceled', 'canceled'],
  skipped: ['Skipped', 'skipped'],
  manual: ['Manual', 'manual action'],
  scheduled: ['Scheduled', 'scheduled'],
}

/** The status of a pipeline in full; one that passed although something failed has warnings. */
export function presentDetailedStatus(
  status: PipelineStatus,
  path: string,
  warnings: boolean,
): z.input<typeof detailedStatusEntity> {
  const warned = status === 'success' && warnings
  const [text, label] = warned ? ['Warning', 'passed with warnings'] : WORDS[status]
  const name = warned ? 'warning' : status
  return {
    icon: `status_${name}`,
    text,
    label,
    group: warned ? 'success-with-warnings' : status.replaceAll('_', '-'),
    tooltip: label,
    has_details: true,
    details_path: path,
    illustration: null,
    favicon: `/assets/ci_favicons/favicon_status_${status}.png`,
  }
}
