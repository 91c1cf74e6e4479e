import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] }, { background: false })
const ana = useCaller(world, 'ana')
let receiver: Receiver
let other: Receiver
let hooks: string
let minute = 0

beforeAll(async () => {
  receiver = await openReceiver()
  other = await openReceiver()
  const { id } = await createProject(ana, 'kept', { initialize_with_readme: true })
  hooks = `/projects/${id}/hooks`
  await world.runTasks()
})
afterAll(async () => {
  await receiver.close()
  await other.close()
})
afterEach(() => {
  receiver.received.length = 0
  other.received.length = 0
})

const secrets = {
  token: 'tok3n',
  custom_headers: [{ key: 'X-Mine', value: 'v4lue' }],
  url_variables: [{ key: 'room', value: 'r00m' }],
}

async function hook(more: Record<string, unknown> = {}): Promise<string> {
  const made = await ana.post(hooks, { url: `${receiver.url}/{room}`, ...secrets, ...more })
  expect(made.status).toBe(201)
  return `${hooks}/${made.body.id}`
}

/** Tries the hook out, and gives the secrets that its receiver got. */
async function sentSecrets(at: string, who = receiver) {
  // A hook may be tried out five times a minute.
  minute += 1
  world.setNow(new Date(Date.UTC(2026, 4, 4, 10, minute)).toISOString())
  who.received.length = 0
  expect((await ana.post(`${at}/test/push_events`)).status).toBe(201)
  const [one] = who.received
  return { url: one?.url, token: one?.headers['x-svc-token'], mine: one?.headers['x-mine'] }
}

describe('the secrets of a hook', () => {
  test('go to its address, and are kept when anything but the server changes', async () => {
    const at = await hook()
    expect(await sentSecrets(at)).toEqual({ url: '/r00m', token: 'tok3n', mine: 'v4lue' })
    const changed = await ana.put(at, { url: `${receiver.url}/v2/{room}`, name: 'Moved' })
    expect(changed.body).toMatchObject({
      name: 'Moved',
      custom_headers: [{ key: 'X-Mine' }],
      url_variables: [{ key: 'room' }],
    })
    expect(await sentSecrets(at)).toEqual({ url: '/v2/r00m', token: 'tok3n', mine: 'v4lue' })
  })

  test('are forgotten when another server is to be asked', async () => {
    const at = await hook()
    const moved = await ana.put(at, { url: `${other.url}/{room}` })
    expect([moved.status, moved.body]).toMatchObject([
      200,
      { url: `${other.url}/{room}`, custom_headers: [], url_variables: [] },
    ])
    expect(await sentSecrets(at, other)).toEqual({
      url: '/%7Broom%7D',
      token: undefined,
      mine: undefined,
    })
    const back = await ana.put(at, { url: `${receiver.url}/{room}` })
    expect(back.body.url_variables).toEqual([])
    expect(await sentSecrets(at)).toMatchObject({ token: undefined, mine: undefined })
  })

  test('are those that are given with the address of another server', async () => {
    const at = await hook()
    const moved = await ana.put(at, {
      url: `${other.url}/{room}`,
      token: 'an0ther',
      url_variables: [{ key: 'room', value: 'elsewhere' }],
    })
    expect(moved.body).toMatchObject({ custom_headers: [], url_variables: [{ key: 'room' }] })
    expect(await sentSecrets(at, other)).toEqual({
      url: '/elsewhere',
      token: 'an0ther',
      mine: undefined,
    })
  })

  test('do not follow a variable that names another server', async () => {
    const host = new URL(receiver.url).host
    const at = await hook({
      url: 'http://{host}/{room}',
      url_variables: [
        { key: 'host', value: host },
        { key: 'room', value: 'r00m' },
      ],
    })
    expect(await sentSecrets(at)).toEqual({ url: '/r00m', token: 'tok3n', mine: 'v4lue' })
    expect((await ana.put(`${at}/url_variables/room`, { value: 'next' })).status).toBe(204)
    expect(await sentSecrets(at)).toEqual({ url: '/next', token: 'tok3n', mine: 'v4lue' })
    const elsewhere = { value: new URL(other.url).host }
    expect((await ana.put(`${at}/url_variables/host`, elsewhere)).status).toBe(204)
    expect((await ana.get(at)).body).toMatchObject({
      custom_headers: [],
      url_variables: [{ key: 'host' }],
    })
    expect(await sentSecrets(at, other)).toEqual({
      url: '/%7Broom%7D',
      token: undefined,
      mine: undefined,
    })
  })

  test('are the same for hooks of groups and of the instance', async () => {
    const group = await createGroup(ana, 'kept')
    const given = { url: receiver.url, ...secrets, url_variables: [] }
    const made = await ana.post(`/groups/${group.id}/hooks`, given)
    const moved = await ana.put(`/groups/${group.id}/hooks/${made.body.id}`, { url: other.url })
    expect([moved.status, moved.body.custom_headers]).toEqual([200, []])
    const system = await world.root.post('/hooks', given)
    expect(system.body.custom_headers).toEqual([{ key: 'X-Mine' }])
    const changed = await world.root.put(`/hooks/${system.body.id}`, { url: other.url })
    expect([changed.status, changed.body.custom_headers]).toEqual([200, []])
    expect((await world.root.post(`/hooks/${system.body.id}`)).status).toBe(201)
    expect(other.received.map(({ headers }) => headers['x-svc-token'])).toEqual([undefined])
    await world.root.delete(`/hooks/${system.body.id}`)
  })

  test('are cleared by null and by an empty text, and changed one by one', async () => {
    const at = await hook()
    await ana.put(at, { token: '' })
    expect(await sentSecrets(at)).toMatchObject({ token: undefined, mine: 'v4lue' })
    await ana.put(at, { token: 'back' })
    await ana.put(at, { token: null })
    expect(await sentSecrets(at)).toMatchObject({ token: undefined, mine: 'v4lue' })
    expect((await ana.put(`${at}/custom_headers/X-Mine`, { value: 'two' })).status).toBe(204)
    expect(await sentSecrets(at)).toMatchObject({ mine: 'two' })
    await ana.put(at, {
      custom_headers: [
        { key: 'X-Mine', value: 'first' },
        { key: 'X-Mine', value: 'last' },
      ],
    })
    expect((await ana.get(at)).body.custom_headers).toEqual([{ key: 'X-Mine' }])
    expect(await sentSecrets(at)).toMatchObject({ mine: 'last' })
  })

  test('are in no log of what was sent, and in no page about the hook', async () => {
    const at = await hook()
    await sentSecrets(at)
    const log = await ana.get(`${at}/events`)
    expect(log.body[0].request_headers).toMatchObject({
      'X-Svc-Token': '[REDACTED]',
      'X-Mine': '[REDACTED]',
    })
    const all = [log.body, (await ana.get(at)).body, (await ana.get(hooks)).body]
    expect(JSON.stringify(all)).not.toMatch(/tok3n|v4lue|r00m/)
    const kept = await world.ctx.db.selectFrom('webhook_deliveries').selectAll().execute()
    expect(JSON.stringify(kept)).not.toMatch(/tok3n|v4lue|r00m/)
  })
})

describe('headers and variables', () => {
  test.each([
    ['custom_headers', 'Content-Type', 'text/plain'],
    ['custom_headers', 'user-agent', 'x'],
    ['custom_headers', 'X-Gitlab-Event', 'x'],
    ['custom_headers', 'x-svc-instance', 'x'],
    ['custom_headers', 'Idempotency-Key', 'x'],
    ['custom_headers', 'Proxy-Authorization', 'x'],
    ['custom_headers', 'two words', 'x'],
    ['custom_headers', 'Naïve', 'x'],
    ['url_variables', '1st', 'x'],
    ['url_variables', 'with-dash', 'x'],
  ] as const)('%s take no %s', async (kind, key, value) => {
    const at = await hook({ url_variables: [], custom_headers: [], url: receiver.url })
    const reply = await ana.put(`${at}/${kind}/${encodeURIComponent(key)}`, { value })
    expect([reply.status, reply.body]).toEqual([400, { message: { [kind]: ['is invalid'] } }])
    const whole = await ana.put(at, { [kind]: [{ key, value }] })
    expect([whole.status, whole.body]).toEqual([400, { message: { [kind]: ['is invalid'] } }])
  })

  test.each(['custom_headers', 'url_variables'] as const)('%s are twenty at most', async (kind) => {
    const pairs = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ key: `Key${n}`, value: 'x' }))
    const at = await hook({ url: receiver.url, [kind]: pairs(20) })
    expect((await ana.get(at)).body[kind]).toHaveLength(20)
    const more = await ana.put(`${at}/${kind}/Another`, { value: 'x' })
    expect([more.status, more.body]).toEqual([400, { message: { [kind]: ['is invalid'] } }])
    expect((await ana.put(`${at}/${kind}/Key3`, { value: 'y' })).status).toBe(204)
    expect((await ana.put(at, { [kind]: pairs(21) })).status).toBe(400)
  })

  test('need a value, and are of a hook that is there', async () => {
    const at = await hook()
    const missing = await ana.put(`${at}/custom_headers/X-A`, {})
    expect([missing.status, missing.body]).toEqual([400, { error: 'value is missing' }])
    expect((await ana.put(`${hooks}/999999/custom_headers/X-A`, { value: 'x' })).status).toBe(404)
    expect((await ana.delete(`${at}/custom_headers/X-None`)).status).toBe(404)
    const eve = await world.user('eve')
    expect((await eve.put(`${at}/custom_headers/X-A`, { value: 'x' })).status).toBe(404)
  })
})
