import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redact, redactText } from '../../src/base/redact.ts'
import { runs } from '../support/runs.ts'

/** What tokens and passwords are made of; long enough not to stand in the text by chance. */
const secret = fc
  .string({
    unit: fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'),
    minLength: 20,
    maxLength: 40,
  })
  .map((text) => `Q${text}Q`)

/** Where secrets stand in what is logged: lines of requests, headers, bodies, addresses, errors of programs. */
const places: readonly (readonly [string, (secret: string) => string])[] = [
  ['a query', (s) => `GET /api/v4/projects?private_token=${s}&page=2 200`],
  ['the end of a query', (s) => `GET /api/v4/user?access_token=${s}`],
  ['a form', (s) => `name=x&job_token=${s}&ref=main`],
  ['a password in a form', (s) => `login=ana&password=${s}`],
  ['a client secret', (s) => `grant_type=x&client_secret=${s}`],
  ['a refresh token', (s) => `refresh_token=${s}`],
  ['an encoded query', (s) => `redirect_to=%2Fx%3Fprivate_token%3D${s}`],
  ['a header', (s) => `PRIVATE-TOKEN: ${s}`],
  ['a header in small letters', (s) => `job-token: ${s}`],
  ['the header of runners', (s) => `RUNNER-TOKEN: ${s}`],
  ['the header of webhooks', (s) => `X-Svc-Token: ${s}`],
  ['the header of NuGet', (s) => `X-NuGet-ApiKey: ${s}`],
  ['Bearer', (s) => `Authorization: Bearer ${s}`],
  ['Basic', (s) => `authorization=Basic ${s}`],
  ['a cookie', (s) => `Cookie: _session=${s}`],
  ['JSON', (s) => `{"title":"x","password":"${s}","scopes":["api"]}`],
  ['JSON with blanks', (s) => `{ "private_token" : "${s}" }`],
  ['JSON within JSON', (s) => JSON.stringify({ body: JSON.stringify({ token: s }) })],
  ['a hash', (s) => `{'new_password': '${s}'}`],
  [
    'the address of a clone',
    (s) => `fatal: could not read from https://oauth2:${s}@git.example/x.git`,
  ],
  ['a user without password', (s) => `https://${s}@git.example/`],
  ['a remote by ssh', (s) => `ssh://git:${s}@git.example:2222/x`],
  ['one of our tokens', (s) => `refused svcpat-${s} for ana`],
  ['a token of feature flags', (s) => `refused svcffct-${s}`],
  ['what package clients are given', (s) => `sent svct-${s}`],
  ['the link that ends a subscription', (s) => `GET /-/sent_notifications/${s}/unsubscribe`],
  ['a token of stock clients', (s) => `refused glcbt-${s}`],
]

describe('a secret', () => {
  test.each(places)('in %s is hidden, wherever that stands, and nothing else is', (_, write) => {
    const other = fc.constantFrom('', 'ana did this', 'ref=main', 'on 2026-05-04, in', '(', 'id 7;')
    fc.assert(
      fc.property(secret, other, other, (hush, before, after) => {
        const text = `${before} ${write(hush)} ${after}`
        const clean = redactText(text)
        expect(clean).not.toContain(hush)
        expect(clean).toContain('[hidden]')
        expect(clean.startsWith(before)).toBe(true)
        expect(clean.endsWith(after)).toBe(true)
        expect(redactText(clean)).toBe(clean)
      }),
      { numRuns: 30 },
    )
  })

  test('is hidden in a message and every cause of an error, and in what hangs on it', () => {
    const cause = new Error('git: https://me:hush-hush-hush@x.example failed')
    const error = Object.assign(new Error('outer ?private_token=hush-hush-hush', { cause }), {
      code: 'E',
    })
    const text = JSON.stringify(redact({ error, list: [{ api_key: 'hush-hush-hush' }] }))
    expect(text).not.toContain('hush')
    expect(JSON.parse(text)).toMatchObject({
      error: { name: 'Error', code: 'E', cause: { name: 'Error' } },
      list: [{ api_key: '[hidden]' }],
    })
  })
})

describe('what is no secret', () => {
  test.each([
    'GET /api/v4/projects?page=2&per_page=20&order_by=id 200',
    'token_id 7 was rotated, 3 tokens left',
    'the password is too short',
    'user ana@example.com signed in from 127.0.0.1',
    '{"name":"ana","token_id":7,"tokens":3,"expires_at":null}',
    'https://git.example/ana/p.git',
    'refs/heads/token-bucket -> main',
    'scopes: api, read_api',
    '',
  ])('%j stays as it is', (text) => {
    expect(redactText(text)).toBe(text)
  })

  test('keeps its kind: numbers, flags, null, dates as text, and missing values', () => {
    const plain = { a: 1, b: true, c: null, d: ['x', 2], e: { f: 'y' }, token: null }
    expect(redact(plain)).toEqual(plain)
    expect(redact({ n: 10n, bytes: Buffer.from('abc') })).toEqual({ n: '10', bytes: '[3 bytes]' })
  })
})

test('whatever is logged comes out as data of bounded depth and length, in one go', () => {
  const deep: Record<string, unknown> = {}
  let at = deep
  for (let i = 0; i < 50; i += 1) {
    at.next = {}
    at = at.next as Record<string, unknown>
  }
  expect(JSON.stringify(redact(deep)).length).toBeLessThan(200)
  const round: Record<string, unknown> = {}
  round.self = round
  expect(JSON.stringify(redact(round)).length).toBeLessThan(200)
  expect(redact(Array.from({ length: 1000 }, (_, i) => i))).toHaveLength(100)
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true }), (value) => {
      expect(() => JSON.stringify(redact(value))).not.toThrow()
    }),
    runs(100, 88),
  )
})

test('a text made to be slow is not', () => {
  for (const text of [
    'token='.repeat(20_000),
    '"token":"'.repeat(20_000),
    '\\"'.repeat(50_000),
    `https://${'a'.repeat(200_000)}`,
    `-----BEGIN RSA PRIVATE KEY-----${'x'.repeat(200_000)}`,
    'a-token-'.repeat(30_000),
    'a_'.repeat(60_000),
  ]) {
    const start = performance.now()
    redactText(text)
    expect([text.slice(0, 10), performance.now() - start < 1500]).toEqual([text.slice(0, 10), true])
  }
})
