import { OAUTH_SCOPES } from '../../access/scopes.ts'
import type { ApplicationRow } from './queries.ts'

const KNOWN: ReadonlySet<string> = new Set(OAUTH_SCOPES)

/** Scopes of a text, separated by spaces, plus signs or commas; each once. */
export function readScopes(text: string | undefined): string[] {
  return [...new Set((text ?? '').split(/[\s+,]+/).filter((word) => word !== ''))]
}

export function areKnown(scopes: readonly string[]): boolean {
  return scopes.every((scope) => KNOWN.has(scope))
}

/** Scopes of an application as it was registered. */
export function scopesOf(row: Pick<ApplicationRow, 'scopes'>): string[] {
  return JSON.parse(row.scopes) as string[] // written by us as a JSON list of words
}

/**
 * What a request gets: the scopes that it asked for, when the application (or, without one, a person) may have all of
 * them; by default the first that the application may have, as the reference does. Null: not allowed.
 */
export function grantedScopes(
  application: Pick<ApplicationRow, 'scopes'> | undefined,
  asked: string | undefined,
): string[] | null {
  const wanted = readScopes(asked)
  const allowed = application ? scopesOf(application) : undefined
  if (wanted.length === 0) return allowed ? allowed.slice(0, 1) : ['api']
  if (!areKnown(wanted)) return null
  return allowed && !wanted.every((scope) => allowed.includes(scope)) ? null : wanted
}
