import type { z } from 'zod'
import {
  csv,
  flag,
  hash,
  id,
  instant,
  integer,
  oneOf,
  parameter,
  text,
} from '../../../http/params.ts'

/** A number, or one of the words `None` and `Any`. */
const idOrWord = () =>
  parameter(
    { oneOf: [{ type: 'integer' }, { type: 'string', enum: ['None', 'Any'] }] },
    readIdOrWord,
  )

export type IdOrWord = number | 'none' | 'any'

export function readIdOrWord(raw: unknown): IdOrWord {
  const word = String(raw).toLowerCase()
  if (word === 'none' || word === 'any') return word
  const number = Number(raw)
  // What is no number finds nothing, as an unknown id does.
  return Number.isSafeInteger(number) ? number : -1
}

const excluded = {
  labels: csv(text({ max: 255 }), { max: 100 }).optional(),
  milestone: text().optional(),
  author_id: id().optional(),
  author_username: text().optional(),
  assignee_id: id().optional(),
  assignee_username: csv(text()).optional(),
  reviewer_id: id().optional(),
  reviewer_username: text().optional(),
  my_reaction_emoji: text().optional(),
  source_branch: text().optional(),
  target_branch: text().optional(),
}

/** Filters of every list of merge requests (docs/contract/D §1.10 List filters). */
export const listParams = {
  state: oneOf(['opened', 'closed', 'locked', 'merged', 'all']).optional(),
  scope: oneOf([
    'created_by_me',
    'assigned_to_me',
    'reviews_for_me',
    'all',
    'created-by-me',
    'assigned-to-me',
  ]).optional(),
  order_by: oneOf([
    'created_at',
    'updated_at',
    'merged_at',
    'title',
    'priority',
    'label_priority',
    'milestone_due',
    'popularity',
  ]).optional(),
  sort: oneOf(['asc', 'desc']).optional(),
  milestone: text().optional(),
  labels: csv(text()).optional(),
  not: hash(excluded).optional(),
  with_labels_details: flag().optional(),
  with_merge_status_recheck: flag().optional(),
  created_after: instant().optional(),
  created_before: instant().optional(),
  updated_after: instant().optional(),
  updated_before: instant().optional(),
  merged_after: instant().optional(),
  merged_before: instant().optional(),
  author_id: id().optional(),
  author_username: text().optional(),
  assignee_id: idOrWord().optional(),
  assignee_username: csv(text()).optional(),
  reviewer_id: idOrWord().optional(),
  reviewer_username: text().optional(),
  my_reaction_emoji: text().optional(),
  source_branch: text().optional(),
  target_branch: text().optional(),
  source_project_id: id().optional(),
  search: text({ max: 1000 }).optional(),
  in: csv(text()).optional(),
  wip: oneOf(['yes', 'no']).optional(),
  draft: flag().optional(),
  iids: csv(integer()).optional(),
  view: oneOf(['simple']).optional(),
  approved: oneOf(['yes', 'no']).optional(),
  approved_by_ids: csv(text()).optional(),
  approved_by_usernames: csv(text()).optional(),
  approver_ids: csv(text()).optional(),
  merge_user_id: id().optional(),
  merge_user_username: text().optional(),
  environment: text().optional(),
  deployed_before: instant().optional(),
  deployed_after: instant().optional(),
  non_archived: flag().optional(),
  render_html: flag().optional(),
} as const satisfies Record<string, z.ZodType>

export type ListFilters = z.infer<z.ZodObject<typeof listParams>>
export type ExcludedFilters = NonNullable<ListFilters['not']>
