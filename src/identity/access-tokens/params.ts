import { ADMIN_ONLY_SCOPES, BOT_SCOPES, PERSONAL_SCOPES } from '../../access/scopes.ts'
import { csv, day, flag, instant, oneOf, text } from '../../http/params.ts'
import { TOKEN_ORDERS } from './list-queries.ts'

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
  sort: oneOf(TOKEN_ORDERS).optional(),
}

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
