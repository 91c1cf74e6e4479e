import type { OpenIdProvider } from '../../../base/providers/read-providers.ts'
import type { ProvidedPerson } from '../person.ts'

type Claims = Readonly<Record<string, unknown>>

/** Longest subject that the standard allows. */
const LONGEST_SUBJECT = 255

/** Who somebody is by what a provider says of them; undefined without a name for good. */
export function personOf(provider: OpenIdProvider, claims: Claims): ProvidedPerson | undefined {
  const uid = textOf(claims.sub)
  if (uid === undefined || uid.length > LONGEST_SUBJECT) return undefined
  const email = textOf(claims.email)
  const username = textOf(claims[provider.username_claim]) ?? email ?? ''
  return {
    uid,
    username,
    name: textOf(claims.name) ?? username,
    email,
    // Some write the flag as a text.
    isEmailProven:
      provider.trust_email || claims.email_verified === true || claims.email_verified === 'true',
    groups: [claims[provider.groups_claim] ?? []].flat().filter((one) => typeof one === 'string'),
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}
