import type { z } from 'zod'
import { flag, instant, oneOf, text, textHash } from '../../http/params.ts'

export const USER_ORDERS = ['id', 'name', 'username', 'created_at', 'updated_at'] as const

/** The filters of `GET /users` (docs/contract/D §1.1). */
export const userFilters = {
  username: text().optional(),
  search: text({ max: 1000 }).optional(),
  public_email: text().optional(),
  active: flag().optional(),
  blocked: flag().optional(),
  humans: flag().optional(),
  external: flag().optional(),
  exclude_active: flag().optional(),
  exclude_external: flag().optional(),
  exclude_humans: flag().optional(),
  exclude_internal: flag().optional(),
  without_project_bots: flag().optional(),
  without_projects: flag().optional(),
  two_factor: oneOf(['enabled', 'disabled']).optional(),
  admins: flag().optional(),
  auditors: flag().optional(),
  extern_uid: text().optional(),
  provider: text().optional(),
  created_after: instant().optional(),
  created_before: instant().optional(),
  custom_attributes: textHash().optional(),
}

export type UserFilters = z.infer<z.ZodObject<typeof userFilters>>
