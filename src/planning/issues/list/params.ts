import type { z } from 'zod'
import {
  csv,
  fault,
  flag,
  hash,
  instant,
  integer,
  oneOf,
  parameter,
  text,
} from '../../../http/params.ts'

/** A number, or the words `None` and `Any`. */
function idOrWord(words: readonly string[]): z.ZodType<number | string> {
  return parameter({ type: ['integer', 'string'] }, (raw) => {
    const word = words.find((one) => one.toLowerCase() === String(raw).toLowerCase())
    if (word !== undefined) return word
    const number = integer().safeParse(raw)
    return number.success ? number.data : fault.invalid
  })
}

const scopes = [
  'created_by_me',
  'assigned_to_me',
  'all',
  'created-by-me',
  'assigned-to-me',
] as const
const types = ['issue', 'incident', 'test_case', 'task'] as const
const dueDates = [
  '0',
  'any',
  'today',
  'tomorrow',
  'overdue',
  'week',
  'month',
  'next_month_and_previous_two_weeks',
] as const

/** What lists and statistics of issues are narrowed by (docs/contract/D §1.9 List filters). */
export const issueFilters = {
  labels: csv(text({ max: 255 }), { max: 100 }).optional(),
  milestone: text({ max: 255 }).optional(),
  milestone_id: idOrWord(['None', 'Any', 'Upcoming', 'Started']).optional(),
  scope: oneOf(scopes).optional(),
  author_id: integer().optional(),
  author_username: text({ max: 255 }).optional(),
  assignee_id: idOrWord(['None', 'Any']).optional(),
  assignee_username: csv(text({ max: 255 }), { max: 100 }).optional(),
  my_reaction_emoji: text({ max: 255 }).optional(),
  iids: csv(integer(), { max: 1000 }).optional(),
  confidential: flag().optional(),
  created_after: instant().optional(),
  created_before: instant().optional(),
  updated_after: instant().optional(),
  updated_before: instant().optional(),
  search: text({ max: 1000 }).optional(),
  in: csv(oneOf(['title', 'description'])).optional(),
  not: hash({
    labels: csv(text({ max: 255 }), { max: 100 }).optional(),
    milestone: text({ max: 255 }).optional(),
    milestone_id: idOrWord(['Upcoming', 'Started']).optional(),
    author_id: integer().optional(),
    author_username: text({ max: 255 }).optional(),
    assignee_id: integer().optional(),
    assignee_username: csv(text({ max: 255 }), { max: 100 }).optional(),
    iids: csv(integer(), { max: 1000 }).optional(),
    my_reaction_emoji: text({ max: 255 }).optional(),
    weight: integer().optional(),
  }).optional(),
  issue_type: csv(oneOf(types)).optional(),
  weight: idOrWord(['None', 'Any']).optional(),
  /** Kept for clients that send them: nothing here has a health status, an epic, an iteration or a contact. */
  health_status: text({ max: 100 }).optional(),
  epic_id: idOrWord(['None', 'Any']).optional(),
  iteration_id: idOrWord(['None', 'Any', 'Current']).optional(),
  iteration_title: text({ max: 255 }).optional(),
  crm_contact_id: integer().optional(),
  crm_organization_id: integer().optional(),
} as const

export const issueListQuery = {
  ...issueFilters,
  state: oneOf(['opened', 'closed', 'all']).optional(),
  due_date: oneOf(dueDates).optional(),
  with_labels_details: flag().optional(),
  non_archived: flag().optional(),
  order_by: oneOf([
    'created_at',
    'updated_at',
    'priority',
    'due_date',
    'relative_position',
    'label_priority',
    'milestone_due',
    'popularity',
    'weight',
    'title',
    'id',
  ]).optional(),
  sort: oneOf(['asc', 'desc']).optional(),
} as const

/** A list of everything is of the caller's own, unless it says whose (docs/contract/D §1.9). */
export function scopeOfAll(query: Pick<IssueListQuery, 'scope' | 'author_id' | 'author_username'>) {
  return query.scope ?? (query.author_id || query.author_username ? 'all' : 'created_by_me')
}

type Read<S extends Readonly<Record<string, z.ZodType>>> = z.infer<
  z.ZodObject<{ -readonly [K in keyof S]: S[K] }>
>
export type IssueListQuery = Read<typeof issueListQuery>
