import { timingSafeEqual } from 'node:crypto'
import { digestOf } from '../../access/door.ts'
import type { Ctx } from '../../ctx.ts'
import { oauthProblem } from './problems.ts'
import { type ApplicationRow, findApplicationByUid } from './queries.ts'

export interface ClientCredentials {
  readonly id?: string | undefined
  readonly secret?: string | undefined
}

/** The application that a request names. A confidential one must prove itself; a public one has no secret to show. */
export async function getClient(ctx: Ctx, given: ClientCredentials): Promise<ApplicationRow> {
  if (!given.id) throw oauthProblem('invalid_client')
  const row = await findApplicationByUid(ctx.db, given.id)
  if (!row) throw oauthProblem('invalid_client')
  if (row.confidential === 0 && !given.secret) return row
  if (!timingSafeEqual(digestOf(given.secret ?? ''), row.secret_digest)) {
    throw oauthProblem('invalid_client')
  }
  return row
}

/** The application's scopes. */
export function scopesOf(row: Pick<ApplicationRow, 'scopes'>): string[] {
  return JSON.parse(row.scopes) as string[] // written by us as a JSON list of words
}

/** The scopes that are asked for, all of which must be allowed; without any, `fallback`. */
export function readScopes(
  asked: string | undefined,
  allowed: readonly string[],
  fallback: readonly string[],
): string[] {
  const words = [...new Set((asked ?? '').split(/[\s,]+/).filter((word) => word !== ''))]
  if (words.length === 0) return [...fallback]
  if (words.some((word) => !allowed.includes(word))) throw oauthProblem('invalid_scope')
  return words
}

/** Whether the application registered exactly this address. */
export function isRegistered(row: ApplicationRow, redirectUri: string): boolean {
  return row.redirect_uri.split('\n').includes(redirectUri)
}
