import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeLog } from '../../src/base/log.ts'
import { Counters, throttle } from '../../src/http/throttle.ts'
import { type Caller, openWorld, type Reply, type World } from '../support/world.ts'

const EXEMPT = 3

let world: World
let ana: Caller
let exempt: Caller
const lines: string[] = []

beforeAll(async () => {
  const settings = {
    maxOffset: 200,
    rateLimit: true,
    rateLimitUser: 2,
    rateLimitAnonymous: 1,
    rateLimitBypassHeader: 'X-Inside',
    rateLimitExempt: [EXEMPT],
    rateLimitDryRun: ['throttle_unauthenticated_api'] as const,
  }
  const log = makeLog({ write: (line) => void lines.push(line) })
  world = await openWorld(settings, { background: false, log })
  for (let n = 1; exempt === undefined && n < 5; n += 1) {
    const user = await world.user(`user${n}`)
    if (user.id === EXEMPT) exempt = user
    else ana = user
  }
  ana ??= await world.user('ana')
})
afterAll(() => world.close())

let day = 4
/** Each test begins with a fresh quota. */
afterEach(() => {
  day += 1
  world.setNow(`2026-05-${String(day).padStart(2, '0')}T10:00:00.000Z`)
})

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status)
const limitOf = ({ headers }: Reply) => headers.get('ratelimit-limit')

async function times(n: number, ask: () => Promise<Reply>): Promise<Reply[]> {
  const replies: Reply[] = []
  for (let i = 0; i < n; i += 1) replies.push(await ask())
  return replies
}

describe('the request throttle of the configuration', () => {
  test('holds whoever is not excepted', async () => {
    const replies = await times(3, () => ana.get('/user'))
    expect(statuses(replies)).toEqual([200, 200, 429])
    // Two in an hour are less than one in a minute: it is rounded up.
    expect(replies.map(limitOf)).toEqual(['1', '1', '1'])
  })

  test('is passed with the header of the operator, when that says exactly 1', async () => {
    const inside = (value: string) => ana.get('/user', { headers: { 'x-inside': value } })
    const free = await times(4, () => inside('1'))
    expect(statuses(free)).toEqual([200, 200, 200, 200])
    expect(free.map(limitOf)).toEqual([null, null, null, null])
    const counted = [await inside('true'), await inside('11'), await inside('0')]
    expect(statuses(counted)).toEqual([200, 200, 429])
  })

  test('never holds the users whom the operator has named, and nobody who acts for others', async () => {
    expect(exempt.id).toBe(EXEMPT)
    const free = await times(5, () => exempt.get('/user'))
    expect(statuses(free)).toEqual([200, 200, 200, 200, 200])
    expect(free.map(limitOf)).toEqual([null, null, null, null, null])
    // Whoever an administrator acts as is who counts.
    const asThem = () => world.root.get('/user', { headers: { Sudo: exempt.username } })
    expect(statuses(await times(4, asThem))).toEqual([200, 200, 200, 200])
  })

  test('refuses nothing in a dry run, and logs what it would have refused', async () => {
    lines.length = 0
    const replies = await times(3, () => world.nobody.get('/broadcast_messages'))
    expect(statuses(replies)).toEqual([200, 200, 200])
    expect(replies.map(limitOf)).toEqual([null, null, null])
    const logged = lines.map((line) => JSON.parse(line))
    const wanted = { throttle: 'throttle_unauthenticated_api', caller: '127.0.0.1' }
    expect(logged).toMatchObject([
      { message: 'above the rate limit', ...wanted },
      { message: 'above the rate limit', ...wanted },
    ])
  })
})

test.each([
  [3600, 3600, '60'],
  [7200, 3600, '120'],
  [1, 3600, '1'],
  [100, 7, '858'],
  [5, 1, '300'],
])('%i requests in %i seconds are announced as %s a minute', (requests, periodSeconds, limit) => {
  const rule = {
    name: 'throttle_authenticated_api',
    enabled: true,
    requests,
    periodSeconds,
  } as const
  const headers = throttle(new Counters(), rule, 'somebody', 0)
  expect(headers['RateLimit-Limit']).toBe(limit)
  expect(headers['RateLimit-Remaining']).toBe(String(requests - 1))
  expect(headers['RateLimit-Reset']).toBe(String(periodSeconds))
})

test('a window of the throttle begins with its first request, not with the clock', () => {
  const counters = new Counters()
  const rule = {
    name: 'throttle_unauthenticated_api',
    enabled: true,
    requests: 1,
    periodSeconds: 60,
  } as const
  const at = (ms: number) => {
    try {
      return throttle(counters, rule, 'k', ms)['RateLimit-Observed']
    } catch (error) {
      return (error as { headers: Record<string, string> }).headers['Retry-After']
    }
  }
  expect([at(59_500), at(60_500), at(119_400), at(119_500)]).toEqual(['1', '59', '1', '1'])
})

describe('the deepest offset of the configuration', () => {
  const free = { headers: { 'X-Inside': '1' } }

  test('is where numbered pages end, and stands in the refusal', async () => {
    expect((await ana.get('/projects?per_page=20&page=10', free)).status).toBe(200)
    for (const query of ['per_page=20&page=11', 'per_page=100&page=3', 'page=11']) {
      const refused = await ana.get(`/projects?${query}`, free)
      expect([query, refused.status, refused.body]).toEqual([
        query,
        405,
        {
          error:
            'Offset pagination has a maximum allowed offset of 200 for requests that return objects of type Project. Remaining records can be retrieved using keyset pagination.',
        },
      ])
    }
  })

  test('holds no keyset page, and no list that knows only numbers', async () => {
    const keyset = '/projects?pagination=keyset&order_by=id&per_page=100&page=50'
    expect((await ana.get(keyset, free)).status).toBe(200)
    const { body } = await ana.post('/projects', { name: 'p' }, free)
    const labels = await ana.get(`/projects/${body.id}/labels?per_page=100&page=50`, free)
    expect([labels.status, labels.body]).toEqual([200, []])
  })
})
