import type { z } from 'zod'
import { csv, flag, id, instant, integer, text } from '../../../http/params.ts'

export const longestDescription = 1_000_000

/** What both creation and changes of a merge request may say (docs/contract/D §1.10). */
const common = {
  description: text({ max: longestDescription }).nullish(),
  assignee_id: id().nullish(),
  assignee_ids: csv(id(), { max: 200 }).optional(),
  reviewer_ids: csv(id(), { max: 200 }).optional(),
  labels: csv(text({ max: 255 }), { max: 100 }).optional(),
  milestone_id: id().nullish(),
  remove_source_branch: flag().optional(),
  squash: flag().optional(),
  allow_collaboration: flag().optional(),
  allow_maintainer_to_push: flag().optional(),
  merge_after: instant().nullish(),
}

export const createBody = {
  ...common,
  title: text(),
  source_branch: text({ max: 1024 }),
  target_branch: text({ max: 1024 }),
  target_project_id: id().optional(),
  add_labels: csv(text({ max: 255 }), { max: 100 }).optional(),
  approvals_before_merge: integer({ min: 0, max: 100 }).nullish(),
}

export const updateBody = {
  ...common,
  title: text().optional(),
  target_branch: text({ max: 1024 }).optional(),
  state_event: text().optional(),
  add_labels: csv(text({ max: 255 }), { max: 100 }).optional(),
  remove_labels: csv(text({ max: 255 }), { max: 100 }).optional(),
  discussion_locked: flag().nullish(),
}

export type CreateInput = z.infer<z.ZodObject<typeof createBody>>
export type UpdateInput = z.infer<z.ZodObject<typeof updateBody>>

/** The people that a request names: `assignee_ids`, or the older `assignee_id`; undefined when it names none. */
export function assigneesOf(
  input: Pick<CreateInput, 'assignee_id' | 'assignee_ids'>,
): readonly number[] | undefined {
  if (input.assignee_ids !== undefined) return input.assignee_ids
  if (input.assignee_id === undefined) return undefined
  return input.assignee_id === null || input.assignee_id === 0 ? [] : [input.assignee_id]
}
