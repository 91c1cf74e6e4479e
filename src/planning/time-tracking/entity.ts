import { z } from 'zod'

/** Estimated and spent time, in seconds and in words (docs/contract/D §1.9). */
export const timeStatsEntity = z.strictObject({
  time_estimate: z.int(),
  total_time_spent: z.int(),
  human_time_estimate: z.string().nullable(),
  human_total_time_spent: z.string().nullable(),
})
