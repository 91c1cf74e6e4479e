import type { z } from 'zod'
import { csv, day, file, flag, id, integer, oneOf, text, textHash } from '../../http/params.ts'
import { groupSettingParams } from './settings.ts'

/** Filters of every list of groups (docs/contract/D §1.3). */
export const groupListParams = {
  all_available: flag().optional(),
  skip_groups: csv(id()).optional(),
  search: text({ max: 10_000 }).optional(),
  owned: flag().optional(),
  min_access_level: integer({ min: 5, max: 50 }).optional(),
  top_level_only: flag().optional(),
  visibility: oneOf(['private', 'internal', 'public']).optional(),
  archived: flag().optional(),
  active: flag().optional(),
  marked_for_deletion_on: day().optional(),
  statistics: flag().optional(),
  repository_storage: text().optional(),
  custom_attributes: textHash().optional(),
  with_custom_attributes: flag().optional(),
  order_by: oneOf(['name', 'path', 'id', 'similarity']).optional(),
  sort: oneOf(['asc', 'desc']).optional(),
} as const

export type GroupFilters = z.infer<z.ZodObject<typeof groupListParams>>

/** Keyset pages by name or id; offset pages up to the common depth (docs/contract/A-resolved §5). */
export const groupPages = { keyset: ['name', 'id'], defaultSort: 'asc', type: 'Group' } as const

/** What creation and update take alike. */
export const groupBodyParams = {
  description: text().nullable().optional(),
  visibility: oneOf(['private', 'internal', 'public']).optional(),
  avatar: file()
    .or(text({ max: 0 }))
    .nullable()
    .optional(),
  ...groupSettingParams,
} as const
