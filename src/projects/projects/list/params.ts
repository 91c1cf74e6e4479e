import type { z } from 'zod'
import { MEMBER_LEVELS } from '../../../access/roles.ts'
import {
  csv,
  day,
  flag,
  id,
  instant,
  integer,
  oneOf,
  text,
  textHash,
} from '../../../http/params.ts'

const orders = [
  'id',
  'name',
  'path',
  'created_at',
  'updated_at',
  'star_count',
  'last_activity_at',
  'similarity',
  'repository_size',
  'storage_size',
  'packages_size',
  'wiki_size',
] as const

/** Filters of every list of projects (docs/contract/D §1.2 List filters). */
export const projectListParams = {
  archived: flag().optional(),
  active: flag().optional(),
  visibility: oneOf(['private', 'internal', 'public']).optional(),
  search: text({ max: 10_000 }).optional(),
  search_namespaces: flag().optional(),
  owned: flag().optional(),
  membership: flag().optional(),
  starred: flag().optional(),
  imported: flag().optional(),
  simple: flag().optional(),
  statistics: flag().optional(),
  with_issues_enabled: flag().optional(),
  with_merge_requests_enabled: flag().optional(),
  with_programming_language: text().optional(),
  language: text().optional(),
  min_access_level: integer({ min: MEMBER_LEVELS[0], max: 50 }).optional(),
  id_after: id().optional(),
  id_before: id().optional(),
  last_activity_after: instant().optional(),
  last_activity_before: instant().optional(),
  updated_after: instant().optional(),
  updated_before: instant().optional(),
  topic: csv(text(), { max: 100 }).optional(),
  topic_id: id().optional(),
  repository_storage: text().optional(),
  wiki_checksum_failed: flag().optional(),
  repository_checksum_failed: flag().optional(),
  include_pending_delete: flag().optional(),
  include_hidden: flag().optional(),
  marked_for_deletion_on: day().optional(),
  custom_attributes: textHash().optional(),
  with_custom_attributes: flag().optional(),
  order_by: oneOf(orders).optional(),
  sort: oneOf(['asc', 'desc']).optional(),
} as const satisfies Record<string, z.ZodType>

export type ProjectFilters = z.infer<z.ZodObject<typeof projectListParams>> & {
  /** Of lists of groups alone. */
  readonly with_security_reports?: boolean | undefined
}

/** Keyset pages by id; offset pages up to the common depth (docs/contract/A-resolved §5). */
export const projectPages = { keyset: ['id'], defaultSort: 'desc', type: 'Project' } as const
