import type { z } from 'zod'
import { ADMIN_ONLY_SCOPES, BOT_SCOPES, PERSONAL_SCOPES } from '../../access/scopes.ts'
import { csv, day, flag, instant, oneOf, text } from '../../http/params.ts'

/** The orders of lists of tokens, with the column and direction of each. */
export const TOKEN_ORDERS = {
  created_asc: ['created_at', 'asc'],
  created_desc: ['created_at', 'desc'],
  expires_asc: ['expires_at', 'asc'],
  expires_desc: ['expires_at', 'desc'],
  last_used_asc: ['last_used_at', 'asc'],
  last_used_desc: ['last_used_at', 'desc'],
  name_asc: ['name', 'asc'],
  name_desc: ['name', 'desc'],
} as const

const orderNames = Object.keys(TOKEN_ORDERS) as (keyof typeof TOKEN_ORDERS)[] // the keys of a literal

/** Filters of every list of tokens (docs/contract/A §Group service accounts). */
export const tokenFilterParams = {
  created_after: instant().optional(),
  created_before: instant().optional(),
  last_used_after: instant().optional(),
  last_used_before: instant().optional(),
  expires_after: day().optional(),
  expires_before: day().optional(),
  revoked: flag().optional(),
  search: text({ max: 1000 }).optional(),
  state: oneOf(['active', 'inactive']).optional(),
  sort: oneOf(orderNames).optional(),
}

export type TokenFilters = z.infer<z.ZodObject<typeof tokenFilterParams>>

/** A day, or nothing by null or the empty text. */
export const expiryParam = day()
  .or(text({ max: 0 }).transform(() => null))
  .nullish()

const personalScopes = csv(oneOf([...PERSONAL_SCOPES, ...ADMIN_ONLY_SCOPES]))
const botScopes = csv(oneOf(BOT_SCOPES))

const common = {
  name: text({ max: 10_000 }),
  description: text({ max: 10_000 }).nullish(),
  expires_at: expiryParam,
}

export const personalTokenBody = { ...common, scopes: personalScopes }
export const botTokenBody = { ...common, scopes: botScopes }
