import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiEndpoints } from '../../src/areas.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { exampleOf, mayWriteRepository, type Question, questionFor } from '../contract/ask.ts'
import type { Place } from '../contract/records.ts'
import { type Stage, setStage } from '../contract/stage.ts'
import { cases } from '../support/runs.ts'
import { type Caller, openWorld, type Reply } from '../support/world.ts'

let stage: Stage
beforeAll(async () => {
  stage = await setStage()
}, 120_000)
afterAll(() => stage?.close())

const deep = () => {
  let value: unknown = 'x'
  for (let depth = 0; depth < 40; depth += 1) value = [value]
  return value
}

const hostile: readonly (readonly [string, unknown])[] = [
  ['an array', ['a', 'b']],
  ['an object', { a: { b: 1 } }],
  ['a prototype', { constructor: { prototype: 1 } }],
  ['a number past 2^53', 9007199254740993n.toString()],
  ['a float', 1.5],
  ['a negative number', -1],
  ['true', true],
  ['null', null],
  ['nothing', ''],
  ['a NUL byte', 'a\0b'],
  ['half a surrogate', '\ud800'],
  ['Arabic digits', '١'],
  ['a path upwards', '../../etc/passwd'],
  ['an option', '--upload-pack=touch /tmp/p'],
  ['quotes', `'"\`;-- %s %n`],
  ['stars', '*'.repeat(64)],
  ['a name longer than a file may have', 'x'.repeat(300)],
  ['a long text', 'x'.repeat(60_000)],
  ['a deep nest', deep()],
]

/** Each parameter gets one value of so many, another than the one before it; each of them in `npm run test:long`. */
function shareOf<T>(values: readonly T[], turn: number, of: number): T[] {
  return values.filter((_, at) => at % of === turn % of)
}

type Ask = (question: Question, caller: Caller) => Promise<Reply>

/**
 * Asks about an endpoint again and again from its good example, on a stage that holds one of each record, by whoever may
 * call it. What a request used up (the record, the caller's token) is put back before the next one needs it, so that
 * each reaches the handler.
 */
async function replies(endpoint: Endpoint, asks: readonly Ask[]): Promise<Reply[]> {
  const { by = endpoint.access.kind === 'admin' ? 'admin' : 'owner' } = exampleOf(endpoint)
  const caller = stage.callers.get(by) as Caller
  const place = stage.places.get('public') as Place
  let question = await questionFor(stage, place, endpoint)
  const isPrepared = exampleOf(endpoint).prepare !== undefined
  let isChanged = false
  const found: Reply[] = []
  for (const ask of asks) {
    let reply = await ask(question, caller)
    if (isChanged && (reply.status === 401 || reply.status === 404)) {
      await stage.undo(mayWriteRepository(endpoint))
      question = await questionFor(stage, place, endpoint)
      isChanged = false
      reply = await ask(question, caller)
    }
    isChanged ||= !isRead(endpoint) && reply.status < 400
    found.push(reply)
  }
  if (isPrepared || isChanged) await stage.undo(mayWriteRepository(endpoint))
  return found
}

function isRead({ method }: Endpoint): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Asked for the tokens of somebody else, it answers whoever is no administrator with 401. */
const REFUSES_OTHERS = 'GET /personal_access_tokens'

/** Elsewhere callers prove who they are by other means than the token of a user. */
function takesUsers({ access, client, host }: Endpoint): boolean {
  return !client && !host && access.kind !== 'custom' && access.kind !== 'anyone'
}

const texts = [
  '0',
  '-1',
  '1e3',
  '9007199254740993',
  '%D9%A1',
  '%2e%2e%2f',
  'a%2Fb%2F..%2Fc',
  'x'.repeat(251),
  'x'.repeat(300),
  'x'.repeat(4000),
]

describe('hostile input', () => {
  test('no value of any parameter makes the server fail, and the caller stays signed in', async () => {
    const failed: string[] = []
    let asked = 0
    for (const endpoint of apiEndpoints) {
      const names = Object.keys({ ...endpoint.query, ...(endpoint.raw ? {} : endpoint.body) })
      const changes = names.flatMap((name) => {
        asked += 1
        return shareOf(hostile, asked, cases(19, 1)).map(([what, value]) => ({ name, what, value }))
      })
      const asks = changes.map(({ name, value }): Ask => {
        return (question, caller) => question.askWith(caller, { [name]: value })
      })
      for (const [at, { status }] of (await replies(endpoint, asks)).entries()) {
        const operation = `${endpoint.method} ${endpoint.path}`
        const isSignedOut = status === 401 && takesUsers(endpoint) && operation !== REFUSES_OTHERS
        if (status < 500 && !isSignedOut) continue
        const { name, what } = changes[at] ?? {}
        failed.push(`${operation} ${name}: ${what} → ${status}`)
      }
    }
    expect(failed).toEqual([])
  }, 1_800_000)

  test('no text in a path makes the server fail, or is taken for a record', async () => {
    const failed: string[] = []
    let asked = 0
    for (const endpoint of apiEndpoints) {
      const names = [...endpoint.path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => name)
      const changes = names.flatMap((name) => {
        asked += 1
        return shareOf(texts, asked, cases(10, 1)).map((text) => ({ name, text }))
      })
      const asks = changes.map(({ name, text }): Ask => {
        return (question, caller) => question.askAt(caller, name, text)
      })
      for (const [at, { status }] of (await replies(endpoint, asks)).entries()) {
        const { name = '', text = '' } = changes[at] ?? {}
        const isRecord = /(^|_)i?id$/.test(name) && status < 400 && takesUsers(endpoint)
        if (status < 500 && !isRecord) continue
        failed.push(`${endpoint.method} ${endpoint.path} ${name}=${text.slice(0, 20)} → ${status}`)
      }
    }
    expect(failed).toEqual([])
  }, 1_800_000)

  test.each([
    ['two documents', 'application/json', '{"a":1}{"b":2}', 400],
    ['an array as body', 'application/json', '[1]', 400],
    ['broken JSON', 'application/json', '{"a":', 400],
    ['invalid UTF-8', 'application/json', Uint8Array.from([123, 34, 255, 34, 125]), 400],
    [
      'a nest of 100,000',
      'application/json',
      `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      400,
    ],
    ['an unknown type', 'application/xml', '<a/>', 415],
    ['broken percent sequences', 'application/x-www-form-urlencoded', 'name=%zz', 400],
  ])('%s is refused', async (_, type, raw, status) => {
    const headers = { 'Content-Type': type }
    const reply = await stage.world.root.post('/projects', undefined, { raw, headers })
    expect(reply.status).toBe(status)
  })

  test('a body above the limit answers 413', async () => {
    const small = await openWorld({ maxBody: 1000 })
    const reply = await small.root.post('/projects', { name: 'x'.repeat(2000) })
    expect(reply.status).toBe(413)
    await small.close()
  })
})
