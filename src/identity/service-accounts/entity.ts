import { z } from 'zod'
import type { UserRow } from '../users/queries.ts'

export const serviceAccountColumns = [
  'users.id',
  'users.username',
  'users.name',
  'users.email',
  'users.unconfirmed_email',
] as const

export type ServiceAccountRow = Pick<
  UserRow,
  'id' | 'username' | 'name' | 'email' | 'unconfirmed_email'
>

/** In the list of the instance. */
export const accountBriefEntity = z.strictObject({
  id: z.int(),
  username: z.string(),
  name: z.string(),
})

/** Everywhere else; the address that waits for its confirmation only while it does (docs/contract/A §Service account). */
export const accountEntity = accountBriefEntity.extend({
  email: z.string(),
  unconfirmed_email: z.string().optional(),
})

export function presentAccountBrief(row: ServiceAccountRow): z.input<typeof accountBriefEntity> {
  return { id: row.id, username: row.username, name: row.name }
}

export function presentAccount(row: ServiceAccountRow): z.input<typeof accountEntity> {
  return {
    ...presentAccountBrief(row),
    email: row.email,
    ...(row.unconfirmed_email === null ? {} : { unconfirmed_email: row.unconfirmed_email }),
  }
}
