import { z } from 'zod'
import { Role } from '../../access/roles.ts'
import type { RuleRow } from './queries.ts'

/** The levels by the words of the wire. */
export const PUSH_LEVELS = ['maintainer', 'owner', 'admin'] as const
export const DELETE_LEVELS = ['owner', 'admin'] as const

export const protectionRuleEntity = z.strictObject({
  id: z.int(),
  project_id: z.int(),
  package_name_pattern: z.string(),
  package_type: z.string(),
  minimum_access_level_for_push: z.enum(PUSH_LEVELS).nullable(),
  minimum_access_level_for_delete: z.enum(DELETE_LEVELS).nullable(),
})

export function presentRule(row: RuleRow): z.input<typeof protectionRuleEntity> {
  return {
    id: row.id,
    project_id: row.project_id,
    package_name_pattern: row.package_name_pattern,
    package_type: row.package_type,
    minimum_access_level_for_push: wordOf(PUSH_LEVELS, row.minimum_access_level_for_push),
    minimum_access_level_for_delete: wordOf(DELETE_LEVELS, row.minimum_access_level_for_delete),
  }
}

function wordOf<T extends (typeof PUSH_LEVELS)[number]>(
  words: readonly T[],
  level: number | null,
): T | null {
  return words.find((word) => Role[word] === level) ?? null
}
