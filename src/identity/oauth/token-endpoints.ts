import { z } from 'zod'
import {
  findOauthToken,
  type OauthTokenRow,
  revokeOauthToken,
} from '../../access/authentication/oauth-token-queries.ts'
import { anyone } from '../../access/subjects.ts'
import { digestOf } from '../../access/token-use.ts'
import type { Ctx } from '../../ctx.ts'
import { basicOf } from '../../http/credentials/credentials.ts'
import { Answer, endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { claimsOf } from './claims.ts'
import { findClient, getClient } from './client.ts'
import { missing, oauthFault } from './faults.ts'
import { grants, tokenParams } from './grants.ts'
import { makeIdToken } from './id-token.ts'
import { findApplication, findTokenUser } from './queries.ts'
import { scopesOf } from './scopes.ts'

const common = { host: true, ownSignIn: true, access: anyone() } as const
const headers = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
const clientParams = { client_id: text().optional(), client_secret: text().optional() }

const tokenEntity = z.strictObject({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int(),
  refresh_token: z.string().optional(),
  scope: z.string(),
  created_at: z.int(),
  id_token: z.string().optional(),
})

export const createOauthToken = endpoint({
  ...common,
  method: 'POST',
  path: '/oauth/token',
  summary:
    'Get an access token for a code, a refresh token, a password, a device or the client itself',
  body: {
    ...clientParams,
    grant_type: text().optional(),
    ...tokenParams,
  },
  status: 200,
  response: tokenEntity,
  async handler({ ctx, body, request }) {
    if (body.grant_type === undefined) throw missing('grant_type')
    const grant = grants.get(body.grant_type)
    if (!grant) throw oauthFault('unsupported_grant_type')
    const client = await findClient(ctx, request, body)
    const { answer, issued } = await grant(ctx, client, body)
    const idToken = await makeIdToken(ctx, issued)
    const shown = { ...answer, ...(idToken === undefined ? {} : { id_token: idToken }) }
    return new Answer(shown, { headers })
  },
})

/** The token that `token` names, as access or as refresh token. */
async function findEither(ctx: Ctx, secret: string): Promise<OauthTokenRow | undefined> {
  const digest = digestOf(secret)
  const row = await findOauthToken(ctx.db, 'digest', digest)
  return row ?? (await findOauthToken(ctx.db, 'refresh_digest', digest))
}

export const revokeOauth = endpoint({
  ...common,
  method: 'POST',
  path: '/oauth/revoke',
  summary: 'Take an access or refresh token back',
  body: { ...clientParams, token: text().optional(), token_type_hint: text().optional() },
  status: 200,
  response: z.strictObject({}),
  async handler({ ctx, body, request }) {
    const client = await findClient(ctx, request, body)
    const row = body.token === undefined ? undefined : await findEither(ctx, body.token)
    // RFC 7009 §2.2: a token that is none is as good as revoked.
    if (!row) return {}
    if (row.application_id !== null && row.application_id !== client?.id) {
      const fault = oauthFault('unauthorized_client')
      return new Answer(fault.body as Record<string, never>, { status: 403, headers })
    }
    await revokeOauthToken(ctx.db, row.id, ctx.now())
    return {}
  },
})

const introspection = z.strictObject({
  active: z.boolean(),
  scope: z.string().optional(),
  client_id: z.string().nullable().optional(),
  token_type: z.literal('Bearer').optional(),
  exp: z.int().optional(),
  iat: z.int().optional(),
  sub: z.string().optional(),
  username: z.string().optional(),
})

export const introspectOauth = endpoint({
  ...common,
  method: 'POST',
  path: '/oauth/introspect',
  summary: 'Introspect a token of the client',
  body: { ...clientParams, token: text().optional(), token_type_hint: text().optional() },
  status: 200,
  response: introspection,
  async handler({ ctx, body, request }) {
    const client = await getClient(ctx, request, body)
    if (client.confidential === 0) throw oauthFault('invalid_client')
    const row =
      body.token === undefined
        ? undefined
        : await findOauthToken(ctx.db, 'digest', digestOf(body.token))
    if (!row || row.application_id !== client.id || !isAlive(ctx, row)) return { active: false }
    const user = await findUserOf(ctx, row)
    // It opens nothing as long as its user may not sign in.
    if (user && user.state !== 'active') return { active: false }
    return {
      active: true,
      scope: scopesOf(row).join(' '),
      client_id: client.uid,
      token_type: 'Bearer' as const,
      exp: seconds(row.expires_at),
      iat: seconds(row.created_at),
      ...(user ? { sub: String(user.id), username: user.username } : {}),
    }
  },
})

function seconds(instant: string): number {
  return Math.floor(Date.parse(instant) / 1000)
}

function isAlive(ctx: Ctx, row: OauthTokenRow): boolean {
  return row.revoked_at === null && row.expires_at > ctx.now()
}

async function findUserOf(ctx: Ctx, { user_id: userId }: OauthTokenRow) {
  return userId === null ? undefined : await findTokenUser(ctx.db, userId)
}

/** The access token that a request brings as Bearer or parameter, with its user; no other credential will do. */
async function tokenInUse(
  ctx: Ctx,
  request: Pick<RequestFacts, 'headers'>,
  parameter: string | undefined,
) {
  const header = String(request.headers.authorization ?? '')
  const secret = /^bearer\s+(\S+)\s*$/i.exec(header)?.[1] ?? parameter ?? basicOf(header)?.password
  const row =
    secret === undefined ? undefined : await findOauthToken(ctx.db, 'digest', digestOf(secret))
  if (!row) throw oauthFault('invalid_token')
  if (row.revoked_at !== null) throw oauthFault('invalid_token', 'The access token was revoked')
  if (!isAlive(ctx, row)) throw oauthFault('invalid_token', 'The access token expired')
  const user = await findUserOf(ctx, row)
  if (user && user.state !== 'active') throw oauthFault('invalid_token')
  return { row, user }
}

export const getOauthTokenInfo = endpoint({
  ...common,
  method: 'GET',
  path: '/oauth/token/info',
  summary: 'Get the access token in use',
  query: { access_token: text().optional() },
  response: z.strictObject({
    resource_owner_id: z.int().nullable(),
    scope: z.array(z.string()),
    scopes: z.array(z.string()),
    expires_in: z.int(),
    expires_in_seconds: z.int(),
    application: z.strictObject({ uid: z.string().nullable() }),
    created_at: z.int(),
  }),
  async handler({ ctx, query, request }) {
    const { row } = await tokenInUse(ctx, request, query.access_token)
    const application =
      row.application_id === null ? undefined : await findApplication(ctx.db, row.application_id)
    const left = seconds(row.expires_at) - seconds(ctx.now())
    const scopes = scopesOf(row)
    return {
      resource_owner_id: row.user_id,
      scope: scopes,
      scopes,
      expires_in: left,
      expires_in_seconds: left,
      application: { uid: application?.uid ?? null },
      created_at: seconds(row.created_at),
    }
  },
})

const userInfo = z.record(z.string(), z.unknown())

async function presentUserInfo(
  ctx: Ctx,
  request: Pick<RequestFacts, 'headers'>,
  parameter: string | undefined,
) {
  const { row, user } = await tokenInUse(ctx, request, parameter)
  const scopes = scopesOf(row)
  if (!user || !scopes.includes('openid')) throw oauthFault('invalid_token')
  return claimsOf(ctx, user, scopes)
}

export const getUserInfo = endpoint({
  ...common,
  method: 'GET',
  path: '/oauth/userinfo',
  summary: 'Get the user of the access token (OpenID Connect)',
  query: { access_token: text().optional() },
  response: userInfo,
  handler: ({ ctx, query, request }) => presentUserInfo(ctx, request, query.access_token),
})

export const postUserInfo = endpoint({
  ...common,
  method: 'POST',
  path: '/oauth/userinfo',
  summary: 'Get the user of the access token (OpenID Connect)',
  body: { access_token: text().optional() },
  status: 200,
  response: userInfo,
  handler: ({ ctx, body, request }) => presentUserInfo(ctx, request, body.access_token),
})
