import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiEndpoints } from '../../src/areas.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { requiredOf } from '../support/plain-input.ts'
import { type Caller, openWorld, type Reply, type World } from '../support/world.ts'

let world: World
let projectId: number
let groupId: number

beforeAll(async () => {
  world = await openWorld()
  const group = await world.root.post('/groups', { name: 'hostile', path: 'hostile' })
  groupId = group.body.id
  const project = await world.root.post('/projects', {
    name: 'target',
    namespace_id: groupId,
    initialize_with_readme: true,
  })
  projectId = project.body.id
})
afterAll(() => world.close())

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

/** Each parameter gets a third of the values, another third than the one before it, so that all meet all. */
function shareOf(turn: number) {
  return hostile.filter((_, at) => at % 3 === turn % 3)
}

function pathOf(endpoint: Endpoint, change: Readonly<Record<string, string>> = {}): string {
  return endpoint.path.replaceAll(/[:*](\w+)/g, (_, name: string) => {
    if (change[name] !== undefined) return change[name]
    if (name !== (endpoint.access.param ?? 'id')) return '1'
    return String(endpoint.access.kind === 'group' ? groupId : projectId)
  })
}

function ask(
  caller: Caller,
  endpoint: Endpoint,
  path: string,
  input: Record<string, unknown>,
): Promise<Reply> {
  const reads = endpoint.method === 'GET' || endpoint.method === 'HEAD'
  const { host } = endpoint
  if (!reads) return caller.call(endpoint.method, path, input, { host })
  const pairs = Object.entries(input).flatMap(([name, value]) => flatten(name, value))
  return caller.call(endpoint.method, `${path}?${pairs.join('&').slice(0, 8000)}`, undefined, {
    host,
  })
}

function flatten(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((inner) => flatten(`${name}[]`, inner))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => flatten(`${name}[${key}]`, inner))
  }
  const text = String(value ?? '')
  return [`${encodeURIComponent(name)}=${encodeURIComponent(text.isWellFormed() ? text : 'x')}`]
}

/** Reads first, deletions last, so that there is something to be asked about. */
const order = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const endpoints = [...apiEndpoints].sort(
  (a, b) => order.indexOf(a.method) - order.indexOf(b.method),
)

describe('hostile input', () => {
  test('no value of any parameter makes the server fail', async () => {
    const failed: string[] = []
    let asked = 0
    for (const endpoint of endpoints) {
      const shape = { ...endpoint.query, ...endpoint.body }
      const required = requiredOf(shape)
      for (const name of Object.keys(shape)) {
        asked += 1
        for (const [what, value] of shareOf(asked)) {
          const reply = await ask(world.root, endpoint, pathOf(endpoint), {
            ...required,
            [name]: value,
          })
          if (reply.status >= 500)
            failed.push(`${endpoint.method} ${endpoint.path} ${name}: ${what} → ${reply.status}`)
        }
      }
    }
    expect(failed).toEqual([])
  }, 300_000)

  test('no text in a path makes the server fail, or is taken for a record', async () => {
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
    const failed: string[] = []
    for (const endpoint of endpoints) {
      for (const [, name = ''] of endpoint.path.matchAll(/[:*](\w+)/g)) {
        for (const text of texts) {
          const reply = await ask(
            world.root,
            endpoint,
            pathOf(endpoint, { [name]: text }),
            requiredOf(endpoint.body),
          )
          if (reply.status >= 500)
            failed.push(`${endpoint.method} ${endpoint.path} ${name}=${text.slice(0, 20)}`)
        }
      }
    }
    expect(failed).toEqual([])
  }, 300_000)

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
    // The tests above have spent the tokens of their world.
    const fresh = await openWorld()
    const reply = await fresh.root.post('/projects', undefined, { raw, headers })
    await fresh.close()
    expect(reply.status).toBe(status)
  })

  test('a body above the limit answers 413', async () => {
    const small = await openWorld({ maxBody: 1000 })
    const reply = await small.root.post('/projects', { name: 'x'.repeat(2000) })
    expect(reply.status).toBe(413)
    await small.close()
  })
})
