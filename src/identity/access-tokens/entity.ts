import { z } from 'zod'
import type { AccessTokenRow } from '../../access/authentication/token-queries.ts'
import { dayOf, type Instant } from '../../base/clock.ts'

/** A token as its owner and administrators see it; the secret only in the answer that made it (docs/contract/A-resolved §8.3). */
export const tokenEntity = z.strictObject({
  id: z.int(),
  name: z.string(),
  description: z.string().nullable(),
  revoked: z.boolean(),
  created_at: z.string(),
  scopes: z.array(z.string()),
  user_id: z.int(),
  last_used_at: z.string().nullable(),
  last_used_ips: z.array(z.string()),
  active: z.boolean(),
  expires_at: z.string().nullable(),
  impersonation: z.literal(true).optional(),
  access_level: z.int().optional(),
  resource_type: z.enum(['project', 'group']).optional(),
  resource_id: z.int().optional(),
  token: z.string().optional(),
})

export type Token = z.input<typeof tokenEntity>

/** Not revoked, and before the day on which it expires (docs/contract/A-resolved §7). */
export function isActive(row: AccessTokenRow, now: Instant): boolean {
  return row.revoked === 0 && (row.expires_at === null || row.expires_at > dayOf(now))
}

/** `secret` is given by whoever has just made the token. */
export function presentToken(row: AccessTokenRow, now: Instant, secret?: string): Token {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    revoked: row.revoked === 1,
    created_at: row.created_at,
    scopes: JSON.parse(row.scopes) as string[], // written by us as a JSON list of words
    user_id: row.user_id,
    last_used_at: row.last_used_at,
    last_used_ips: JSON.parse(row.last_used_ips) as string[], // written by us as a JSON list
    active: isActive(row, now),
    expires_at: row.expires_at,
    ...(row.kind === 'impersonation' ? { impersonation: true as const } : {}),
    ...(secret === undefined ? {} : { token: secret }),
  }
}

/** A project's or group's token, with the role of its bot. */
export function presentSourceToken(
  row: AccessTokenRow,
  accessLevel: number,
  now: Instant,
  secret?: string,
): Token {
  return {
    ...presentToken(row, now),
    access_level: accessLevel,
    ...(row.source_type === null || row.source_id === null
      ? {}
      : { resource_type: row.source_type, resource_id: row.source_id }),
    ...(secret === undefined ? {} : { token: secret }),
  }
}
