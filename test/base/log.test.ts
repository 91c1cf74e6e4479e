import { expect, test } from 'vitest'
import { makeLog } from '../../src/base/log.ts'

function linesOf(act: (log: ReturnType<typeof makeLog>) => void, level?: 'debug' | 'warn') {
  const lines: string[] = []
  const now = () => '2026-01-02T03:04:05.000Z'
  act(makeLog({ write: (line) => void lines.push(line), now, ...(level ? { level } : {}) }))
  return lines
}

test('an event is one line of JSON with its time, level and fields', () => {
  const lines = linesOf((log) => log.with({ request: 'r1' }).info('done', { status: 200 }))
  expect(lines).toEqual([
    '{"time":"2026-01-02T03:04:05.000Z","level":"info","message":"done","request":"r1","status":200}\n',
  ])
})

test('what is below the level is not written', () => {
  const lines = linesOf((log) => {
    log.info('no')
    log.warn('yes')
  }, 'warn')
  expect(lines).toHaveLength(1)
})

const secret = 'hush-4f9c2d71b6a8e350'

test.each<[string, unknown]>([
  ['a password field', { password: secret }],
  ['a field deep inside', { a: [{ b: { rootPassword: secret } }] }],
  ['a token in camel case', { privateToken: secret }],
  ['an authorization header', { headers: { authorization: `Bearer ${secret}` } }],
  ['a header text', `Authorization: Basic ${secret}`],
  ['a private token header text', `PRIVATE-TOKEN: ${secret}`],
  ['a cookie', { headers: { cookie: `s=${secret}` } }],
  ['a query', `/api/v4/projects?private_token=${secret}&page=1`],
  ['a job token in a query', `/api/v4/projects?page=1&job_token=${secret}`],
  ['an encoded query', `/x?url=1&access_token%3D${secret}`],
  ['the userinfo of a URL', `cloning https://me:${secret}@example.com/x.git failed`],
  ['a user name that is a token', `https://${secret}@example.com/x.git`],
  ['one of our tokens', `used svcpat-${secret} here`],
  ['a token of another vendor prefix', `used glpat-${secret} here`],
  [
    'a private key',
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${secret}\n-----END OPENSSH PRIVATE KEY-----`,
  ],
  ['an error', new Error(`no https://me:${secret}@example.com/`)],
  ['the cause of an error', new Error('outer', { cause: new Error(`?token=${secret}`) })],
])('%s never reaches the log', (_what, value) => {
  const [line] = linesOf((log) => log.error('failed', { value }))
  expect(line).toBeDefined()
  expect(line).not.toContain(secret)
})

test('a message is cleaned like any field', () => {
  const [line] = linesOf((log) => log.error(`GET /x?private_token=${secret} failed`))
  expect(line).not.toContain(secret)
})

test('what only sounds like a secret stays', () => {
  const [line] = linesOf((log) => log.info('x', { token_id: 7, tokens_found: 3, author: 'Ana' }))
  expect(JSON.parse(line ?? '')).toMatchObject({ token_id: 7, tokens_found: 3, author: 'Ana' })
})
