import { z } from 'zod'
import type { Instant } from '../../base/clock.ts'
import type { BroadcastMessageRow } from './queries.ts'

export const THEMES = [
  'indigo',
  'light-indigo',
  'blue',
  'light-blue',
  'green',
  'light-green',
  'red',
  'light-red',
  'dark',
  'light',
] as const

export const broadcastMessageEntity = z.strictObject({
  id: z.int(),
  message: z.string(),
  starts_at: z.string(),
  ends_at: z.string(),
  color: z.string(),
  font: z.string(),
  target_access_levels: z.array(z.int()),
  target_path: z.string(),
  broadcast_type: z.enum(['banner', 'notification']),
  dismissable: z.boolean(),
  theme: z.string(),
  active: z.boolean(),
})

/** Whether it is shown now; nothing is stored, so it turns by itself (docs/contract/A-resolved §12). */
export function isActive(
  row: Pick<BroadcastMessageRow, 'starts_at' | 'ends_at'>,
  now: Instant,
): boolean {
  return row.starts_at <= now && row.ends_at >= now
}

export function presentBroadcastMessage(
  row: BroadcastMessageRow,
  now: Instant,
): z.input<typeof broadcastMessageEntity> {
  return {
    id: row.id,
    message: row.message,
    starts_at: row.starts_at,
    ends_at: row.ends_at,
    color: row.color,
    font: row.font,
    target_access_levels: JSON.parse(row.target_access_levels) as number[], // written by us
    target_path: row.target_path,
    broadcast_type: row.broadcast_type,
    dismissable: row.dismissable === 1,
    theme: row.theme,
    active: isActive(row, now),
  }
}
