import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { openWorld, type World } from '../../support/world.ts'

// A provider that says what no honest one says: its tokens are made by the test.

let server: Server
let issuer: string
let world: World
let nonce = ''
let description: Record<string, unknown> = {}
let makeToken: () => Promise<string> | string = () => ''
const keys = await generateKeyPair('RS256', { extractable: true })
const foreign = await generateKeyPair('RS256')

beforeAll(async () => {
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  server = createServer(async (request, response) => {
    const path = request.url?.split('?')[0]
    const answers: Record<string, unknown> = {
      '/.well-known/openid-configuration': {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'none'],
        ...description,
      },
      '/jwks': { keys: [jwk] },
    }
    response.setHeader('Content-Type', 'application/json')
    if (path === '/token') {
      const token = { access_token: 'a', token_type: 'Bearer', id_token: await makeToken() }
      return response.end(JSON.stringify(token))
    }
    response.end(JSON.stringify(answers[path ?? ''] ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await world?.close()
  server.closeAllConnections()
  server.close()
})

const provider = () => ({
  name: 'forged',
  label: 'Forged',
  sign_up: 'allowed' as const,
  allowed_groups: [],
  groups: {},
  issuer,
  client_id: 'us',
  client_secret: 'secret',
  token_auth_method: 'client_secret_basic' as const,
  scopes: ['openid'],
  username_claim: 'preferred_username',
  groups_claim: 'groups',
  trust_email: true,
})

const good = () => ({ sub: 'one', email: 'one@example.com', nonce })
const seconds = () => Math.floor(Date.now() / 1000)

function signed(claims: Record<string, unknown>, more: { key?: CryptoKey; exp?: number } = {}) {
  return new SignJWT({ iss: issuer, aud: 'us', iat: seconds(), ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .setExpirationTime(more.exp ?? seconds() + 300)
    .sign(more.key ?? keys.privateKey)
}

async function signIn(browser = new Browser(world.url)) {
  const begun = new URL((await browser.get('/users/auth/forged')).location ?? '')
  nonce = begun.searchParams.get('nonce') ?? ''
  const state = begun.searchParams.get('state') ?? ''
  const query = new URLSearchParams({ code: 'c', state })
  return await browser.get(`/users/auth/forged/callback?${query}`)
}

test('a token that is signed as it must be lets in', async () => {
  world = await openWorld({
    outboundAllow: ['127.0.0.1'],
    signInProviders: { openid: [provider()], ldap: [] },
  })
  makeToken = () => signed(good())
  expect((await signIn()).status).toBe(302)
})

test.each<[string, () => Promise<string> | string]>([
  ['without a signature', () => unsigned()],
  ['with the signature of another key', () => signed(good(), { key: foreign.privateKey })],
  ['with its signature cut off', async () => (await signed(good())).replace(/[^.]+$/, '')],
  ['changed after it was signed', async () => changed(await signed(good()))],
  ['of another sign-in', () => signed({ ...good(), nonce: 'another' })],
  ['of no sign-in', () => signed({ sub: 'one' })],
  ['of another issuer', () => signed({ ...good(), iss: 'https://evil.example' })],
  ['for another client', () => signed({ ...good(), aud: 'them' })],
  ['that is over', () => signed(good(), { exp: seconds() - 300 })],
  ['of nobody', () => signed({ email: 'one@example.com', nonce })],
  ['that is none', () => 'what'],
])('a token %s lets nobody in', async (_, make) => {
  makeToken = make
  const browser = new Browser(world.url)
  const refused = await signIn(browser)
  expect(refused.status).toBe(403)
  expect(refused.text).toContain('The answer of the provider is not valid.')
  expect((await browser.get('/users/sign_in')).text).not.toContain('You are signed in')
  const { body } = await world.root.get('/audit_events?per_page=1')
  expect(body[0].event_name).toBe('sign_in_refused')
  expect(body[0].details.provider).toBe('forged')
})

function unsigned() {
  return new UnsecuredJWT({ ...good(), iss: issuer, aud: 'us' })
    .setIssuedAt()
    .setExpirationTime('5m')
    .encode()
}

function changed(token: string): string {
  const [head, body = '', tail] = token.split('.')
  const claims = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), sub: 'root' }
  return [head, Buffer.from(JSON.stringify(claims)).toString('base64url'), tail].join('.')
}

test('a provider at a private address is asked only where that is allowed, and none that lies about itself', async () => {
  await world.close()
  world = await openWorld({ signInProviders: { openid: [provider()], ldap: [] } })
  const begin = () => new Browser(world.url).get('/users/auth/forged')
  const blocked = await begin()
  expect([blocked.status, blocked.text]).toEqual([
    422,
    expect.stringContaining('cannot be reached'),
  ])
  await world.root.put('/application/settings', { outbound_local_requests_whitelist: '127.0.0.1' })
  description = { issuer: 'https://evil.example' }
  expect((await begin()).status).toBe(422)
  description = {}
  expect((await begin()).status).toBe(302)
})
