import { z } from 'zod'
import type { RowOf } from '../../store/schema.ts'
import { textColorOn } from './color.ts'

export const labelEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  description: z.string().nullable(),
  description_html: z.string(),
  text_color: z.string(),
  color: z.string(),
  archived: z.boolean(),
  subscribed: z.boolean(),
  priority: z.int().nullable(),
  is_project_label: z.boolean(),
  open_issues_count: z.int().optional(),
  closed_issues_count: z.int().optional(),
  open_merge_requests_count: z.int().optional(),
})

/** A label as it stands beside issues and merge requests with `with_labels_details`. */
export const labelDetailEntity = labelEntity.pick({
  id: true,
  name: true,
  color: true,
  description: true,
  description_html: true,
  text_color: true,
  archived: true,
})

export type LabelRow = RowOf<'labels'>

export interface LabelCounts {
  readonly open_issues_count: number
  readonly closed_issues_count: number
  readonly open_merge_requests_count: number
}

/** `descriptions` are the HTML of `describeLabels`. */
export function presentLabelDetail(
  row: LabelRow,
  descriptions: ReadonlyMap<number, string>,
): z.input<typeof labelDetailEntity> {
  return {
    id: row.id,
    name: row.title,
    description: row.description,
    description_html: descriptions.get(row.id) ?? '',
    text_color: textColorOn(row.color),
    color: row.color,
    archived: row.archived === 1,
  }
}

export function presentLabel(
  row: LabelRow & { readonly priority: number | null },
  descriptions: ReadonlyMap<number, string>,
  subscribed: boolean,
  counts: LabelCounts | undefined,
): z.input<typeof labelEntity> {
  return {
    ...presentLabelDetail(row, descriptions),
    ...counts,
    subscribed,
    priority: row.priority,
    is_project_label: row.project_id !== null,
  }
}
