import { z } from 'zod'
import { OAUTH_SCOPES } from '../../access/scopes.ts'
import { anyone } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { grants } from './grants.ts'
import { signingKey } from './signing-key.ts'

const common = { host: true, ownSignIn: true, access: anyone() } as const

const document = z.strictObject({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  revocation_endpoint: z.string(),
  introspection_endpoint: z.string(),
  userinfo_endpoint: z.string(),
  device_authorization_endpoint: z.string(),
  jwks_uri: z.string(),
  scopes_supported: z.array(z.string()),
  response_types_supported: z.array(z.string()),
  response_modes_supported: z.array(z.string()),
  grant_types_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()),
  subject_types_supported: z.array(z.string()),
  id_token_signing_alg_values_supported: z.array(z.string()),
  claim_types_supported: z.array(z.string()),
  claims_supported: z.array(z.string()),
})

function describe(root: string): z.input<typeof document> {
  return {
    issuer: root,
    authorization_endpoint: `${root}/oauth/authorize`,
    token_endpoint: `${root}/oauth/token`,
    revocation_endpoint: `${root}/oauth/revoke`,
    introspection_endpoint: `${root}/oauth/introspect`,
    userinfo_endpoint: `${root}/oauth/userinfo`,
    device_authorization_endpoint: `${root}/oauth/authorize_device`,
    jwks_uri: `${root}/oauth/discovery/keys`,
    scopes_supported: [...OAUTH_SCOPES],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [...grants.keys()],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    code_challenge_methods_supported: ['plain', 'S256'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claim_types_supported: ['normal'],
    claims_supported: [
      'iss',
      'sub',
      'aud',
      'exp',
      'iat',
      'nonce',
      'name',
      'nickname',
      'preferred_username',
      'email',
      'email_verified',
      'website',
      'profile',
      'picture',
      'groups',
    ],
  }
}

const summary = 'Where the parts of OAuth and OpenID Connect are'

/** The same at the place of OpenID Connect, at the one of RFC 8414, and below `/oauth`. */
export const discovery = [
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/oauth/.well-known/openid-configuration',
].map((path) =>
  endpoint({
    ...common,
    method: 'GET',
    path,
    summary,
    response: document,
    handler: ({ ctx }) => describe(ctx.config.externalUrl),
  }),
)

export const listSigningKeys = endpoint({
  ...common,
  method: 'GET',
  path: '/oauth/discovery/keys',
  summary: 'The public keys of identity tokens',
  response: z.strictObject({
    keys: z.array(
      z.strictObject({
        kty: z.string(),
        n: z.string(),
        e: z.string(),
        kid: z.string(),
        use: z.string(),
        alg: z.string(),
      }),
    ),
  }),
  handler: async ({ ctx }) => ({ keys: [(await signingKey(ctx)).jwk] }),
})
