import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { reasonOf } from '../start-error.ts'
import { type LdapProvider, ldapFields } from './ldap.ts'
import { commonFields } from './provider.ts'

const text = z.string().min(1).max(2000)

/** An OpenID Connect provider, as its operator registered us there. */
const openid = z.strictObject({
  ...commonFields,
  issuer: z.url({ protocol: /^https?$/, error: 'expected a URL' }),
  client_id: text,
  /** Without one we are a public client, which PKCE alone protects. */
  client_secret: text.optional(),
  /** How we show the secret, as the provider registered us. */
  token_auth_method: z
    .enum(['client_secret_basic', 'client_secret_post'])
    .default('client_secret_basic'),
  scopes: z.array(text).max(50).default(['openid', 'profile', 'email']),
  username_claim: text.default('preferred_username'),
  groups_claim: text.default('groups'),
  /** Addresses count as confirmed even where the provider does not say so. */
  trust_email: z.boolean().default(false),
})

const all = z
  .strictObject({
    openid: z.array(openid).max(20).default([]),
    ldap: z.array(ldapFields).max(20).default([]),
  })
  .refine((file) => {
    const names = [...file.openid, ...file.ldap].map(({ name }) => name)
    return new Set(names).size === names.length
  }, 'each provider needs a name of its own')

export type OpenIdProvider = Readonly<z.output<typeof openid>>

/** Who may sign people in beside us. */
export interface SignInProviders {
  readonly openid: readonly OpenIdProvider[]
  readonly ldap: readonly LdapProvider[]
}

/** The setting that names the file with the providers; it holds secrets, so that it is no part of the settings themselves. */
export const providersFile = z.string().transform((path, ctx): SignInProviders => {
  if (path === '') return { openid: [], ldap: [] }
  try {
    const read = all.safeParse(JSON.parse(readFileSync(path, 'utf8')))
    if (read.success) return read.data
    const [issue] = read.error.issues
    ctx.addIssue(
      `expected providers, but ${issue?.path.join('.') || 'the file'}: ${issue?.message}`,
    )
  } catch (error) {
    // What a parser says of a file may hold a piece of a secret.
    ctx.addIssue(
      `expected a JSON file${error instanceof SyntaxError ? '' : `, but ${reasonOf(error)}`}`,
    )
  }
  return z.NEVER
})
