import { z } from 'zod'
import type { Day } from '../../base/clock.ts'
import type { RowOf } from '../../store/schema.ts'

export const milestoneEntity = z.strictObject({
  id: z.int(),
  iid: z.int(),
  project_id: z.int().optional(),
  group_id: z.int().optional(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(['active', 'closed']),
  created_at: z.string(),
  updated_at: z.string(),
  due_date: z.string().nullable(),
  start_date: z.string().nullable(),
  expired: z.boolean(),
  web_url: z.string(),
})

export type MilestoneRow = RowOf<'milestones'> & {
  /** Full path of the project or group that it belongs to. */
  readonly owner_path: string
}

/** `today` decides whether it has expired. */
export function presentMilestone(
  row: MilestoneRow,
  externalUrl: string,
  today: Day,
): z.input<typeof milestoneEntity> {
  const owner =
    row.project_id === null ? { group_id: row.group_id ?? 0 } : { project_id: row.project_id }
  const base = row.project_id === null ? `${externalUrl}/groups` : externalUrl
  return {
    id: row.id,
    iid: row.iid,
    ...owner,
    title: row.title,
    description: row.description,
    state: row.state,
    created_at: row.created_at,
    updated_at: row.updated_at,
    due_date: row.due_date,
    start_date: row.start_date,
    expired: row.due_date !== null && row.due_date < today,
    web_url: `${base}/${row.owner_path}/-/milestones/${row.iid}`,
  }
}
