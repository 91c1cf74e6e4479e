import { afterEach, expect, test } from 'vitest'
import { type Caller, type Reply, useCaller, useWorld } from '../support/world.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')

afterEach(async () => {
  await set({ authenticated: false, unauthenticated: false })
  world.setNow('2026-05-04T10:00:00.000Z')
})

const quotas: Readonly<Record<string, number>> = { authenticated: 4, unauthenticated: 2 }

/** Switches the throttles of people and of strangers, with a small quota for two minutes. */
async function set(
  which: Readonly<Record<string, boolean>>,
  more: Readonly<Record<string, unknown>> = {},
) {
  const values = Object.entries(which).map(([name, isOn]) => ({
    [`throttle_${name}_api_enabled`]: isOn,
    [`throttle_${name}_api_requests_per_period`]: quotas[name],
    [`throttle_${name}_api_period_in_seconds`]: 120,
  }))
  const reply = await world.root.put(
    '/application/settings',
    Object.assign({}, ...values, { rate_limiting_response_text: '', ...more }),
  )
  expect(reply.status).toBe(200)
}

const NAMES = ['limit', 'name', 'observed', 'remaining', 'reset']
const told = ({ headers }: Reply) => NAMES.map((name) => headers.get(`ratelimit-${name}`))

test('every answer tells how much of the quota is used, also one that refuses', async () => {
  expect(told(await ana.get('/user'))).toEqual([null, null, null, null, null])
  await set({ authenticated: true })
  const start = Date.parse('2026-05-04T10:00:00.000Z') / 1000
  const expected = (used: number, left: number) => [
    '2',
    'throttle_authenticated_api',
    String(used),
    String(left),
    String(start + 120),
  ]
  const weak = world.as(await world.token(ana.id, ['read_repository']))
  const replies = [
    await ana.get('/user'),
    await ana.get('/projects/999999'),
    await ana.get('/projects?sort=up'),
    await weak.get('/user'),
  ]
  expect(replies.map((reply) => reply.status)).toEqual([200, 404, 400, 403])
  expect(replies.map(told)).toEqual([
    expected(1, 3),
    expected(2, 2),
    expected(3, 1),
    expected(4, 0),
  ])
  world.setNow('2026-05-04T10:01:00.000Z')
  const refused = await ana.get('/user')
  expect([refused.status, refused.body]).toEqual([429, 'Retry later'])
  expect(refused.headers.get('content-type')).toBe('text/plain')
  expect(told(refused)).toEqual(expected(5, 0))
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(refused.headers.get('ratelimit-resettime')).toBe('Mon, 04 May 2026 10:02:00 GMT')
})

test('people count for themselves, and begin anew with the next period', async () => {
  await set({ authenticated: true })
  for (let call = 0; call < 5; call += 1) await ana.get('/user')
  expect((await ana.get('/user')).status).toBe(429)
  expect((await ben.get('/user')).status).toBe(200)
  expect((await world.nobody.get('/broadcast_messages')).status).toBe(200)
  world.setNow('2026-05-04T10:02:00.000Z')
  const again = await ana.get('/user')
  expect([again.status, again.headers.get('ratelimit-observed')]).toEqual([200, '1'])
})

test('strangers count by their address, and hear what administrators have to say', async () => {
  await set({ unauthenticated: true }, { rate_limiting_response_text: 'Come back at noon' })
  world.setNow('2026-05-04T10:10:00.000Z')
  const ask = () => world.nobody.get('/broadcast_messages')
  const replies = [await ask(), await ask(), await ask()]
  expect(replies.map((reply) => [reply.status, reply.headers.get('ratelimit-name')])).toEqual([
    [200, 'throttle_unauthenticated_api'],
    [200, 'throttle_unauthenticated_api'],
    [429, 'throttle_unauthenticated_api'],
  ])
  expect(replies[2]?.body).toBe('Come back at noon')
  expect(told(await ana.get('/user'))).toEqual([null, null, null, null, null])
})

test('who brings a token that is refused counts as a stranger', async () => {
  const { id } = await world.user('kim')
  const kim = world.as(await world.token(id, ['api']))
  await world.root.post(`/users/${id}/block`)
  await set({ authenticated: true, unauthenticated: true })
  world.setNow('2026-05-04T10:15:00.000Z')
  const guess = () => world.as('no-such-token').get('/user')
  const replies = [await guess(), await kim.get('/user'), await guess()]
  expect(replies.map(({ status }) => status)).toEqual([401, 403, 429])
  const [first] = replies.map(told)
  const until = Date.parse('2026-05-04T10:17:00.000Z') / 1000
  expect(first).toEqual(['1', 'throttle_unauthenticated_api', '1', '1', String(until)])
  expect((await ana.get('/user')).status).toBe(200)
})

test('health is told whatever the rate', async () => {
  await set({ unauthenticated: true })
  world.setNow('2026-05-04T10:20:00.000Z')
  for (let call = 0; call < 6; call += 1) {
    expect((await world.nobody.get('/-/health', { host: true })).status).toBe(200)
  }
})

test('a limit of one action refuses it alone, in JSON, and without the headers of the throttle', async () => {
  const ask = (who: Caller) => who.get('/namespaces/some-name/exists')
  for (let call = 0; call < 20; call += 1) expect((await ask(ana)).status).toBe(200)
  const refused = await ask(ana)
  expect([refused.status, refused.body]).toEqual([
    429,
    {
      message: {
        error: 'This endpoint has been requested too many times. Try again later.',
      },
    },
  ])
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(refused.headers.get('ratelimit-limit')).toBeNull()
  expect((await ask(ben)).status).toBe(200)
  expect((await ana.get('/user')).status).toBe(200)
  world.setNow('2026-05-04T10:01:00.000Z')
  expect((await ask(ana)).status).toBe(200)
})
