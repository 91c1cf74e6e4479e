import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { inTransaction } from '../../src/store/transaction.ts'
import { createProject } from '../support/create.ts'
import { addRunner } from '../support/runner.ts'
import { type Caller, openWorld, type Reply, type World } from '../support/world.ts'

const ROOT = '/virtual_registries/packages/maven'
let world: World
let ana: Caller
let groupId: number
let server: Server
let address: string
/** What upstreams were asked for, with the credentials they were shown. */
let asked: { readonly path: string; readonly as: string }[] = []
let files: Readonly<Record<string, string>> = {}
/** What upstreams wait for before they send a file, and how many files wait for it. */
let gate: Promise<void> | undefined
let held = 0

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? ''
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    asked.push({ path, as: Buffer.from(basic, 'base64').toString() })
    const content = files[path]
    const send = () => {
      if (content === undefined) response.writeHead(404).end()
      else {
        response.writeHead(200, { ETag: '"1"', 'Content-Length': content.length })
        response.end(request.method === 'HEAD' ? undefined : content)
      }
    }
    if (gate && request.method === 'GET') {
      held += 1
      void gate.then(send)
    } else send()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  world = await openWorld(
    { outboundAllow: ['127.0.0.1'], outboundTimeout: 5000 },
    { background: false },
  )
  ana = await world.user('ana')
  groupId = await newGroup('acme')
})
afterAll(async () => {
  await world.close()
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  asked = []
  files = {}
  gate = undefined
  held = 0
})

async function newGroup(path: string, more: object = {}): Promise<number> {
  return (await ana.post('/groups', { name: path, path, ...more })).body.id
}

const registriesOf = (group = groupId) => `/groups/${group}/-${ROOT}/registries`
const upstreamsOf = (group = groupId) => `/groups/${group}/-${ROOT}/upstreams`

let count = 0
async function newRegistry(group = groupId): Promise<number> {
  count += 1
  const made = await ana.post(registriesOf(group), { name: `registry ${count}` })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return made.body.id
}

/** An upstream at an address of its own. */
async function newUpstream(registry: number, more: object = {}) {
  count += 1
  const body = { url: `${address}/${count}`, ...more }
  const made = await ana.post(`${ROOT}/registries/${registry}/upstreams`, body)
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return made.body as {
    readonly id: number
    readonly url: string
    readonly registry_upstream: { readonly id: number; readonly position: number }
  }
}

/** The upstreams of a registry in their order. */
async function orderIn(registry: number): Promise<number[]> {
  const { body } = await ana.get(`${ROOT}/registries/${registry}`)
  const links: { upstream_id: number; position: number }[] = body.registry_upstreams
  expect(links.map((link) => link.position)).toEqual(links.map((_, index) => index + 1))
  return links.map((link) => link.upstream_id)
}

/** Fetches a file through a registry, and waits until it is kept. */
async function fetched(registry: number, upstream: { id: number; url: string }, path: string) {
  files = { ...files, [`${new URL(upstream.url).pathname}/${path}`]: `bytes of ${path}` }
  expect((await ana.get(`${ROOT}/${registry}/${path}`)).body).toBe(`bytes of ${path}`)
  for (let tries = 0; tries < 500; tries += 1) {
    const entries = await ana.get(`${ROOT}/upstreams/${upstream.id}/cache_entries?per_page=100`)
    if (entries.body.some((one: { relative_path: string }) => one.relative_path === path)) return
    await new Promise((done) => setTimeout(done, 10))
  }
  throw new Error(`${path} was not kept`)
}

describe('a virtual registry', () => {
  test('is made, listed, read, changed and deleted', async () => {
    const group = await newGroup('life')
    const body = { name: 'one', description: 'What we build with' }
    const made = await ana.post(registriesOf(group), body)
    const now = world.ctx.now()
    const shown = {
      id: expect.any(Number),
      group_id: group,
      ...body,
      created_at: now,
      updated_at: now,
    }
    expect([made.status, made.body]).toEqual([201, shown])
    const { id } = made.body
    const second = (await ana.post(registriesOf(group), { name: 'two' })).body
    expect(second.description).toBeNull()
    expect((await ana.get(registriesOf(group))).body).toEqual([made.body, second])
    const path = `${ROOT}/registries/${id}`
    expect((await ana.get(path)).body).toEqual({ ...made.body, registry_upstreams: [] })
    world.setNow('2026-05-04T11:00:00.000Z')
    const patched = await ana.patch(path, { name: 'renamed' })
    expect([patched.status, patched.body]).toEqual([200, ''])
    const unnamed = await ana.patch(path, { description: 'Another' })
    expect([unnamed.status, unnamed.body]).toEqual([400, { error: 'name is missing' }])
    const both = { name: 'renamed', description: 'Another' }
    expect((await ana.patch(path, both)).status).toBe(200)
    expect((await ana.get(path)).body).toMatchObject({
      name: 'renamed',
      description: 'Another',
      created_at: now,
      updated_at: '2026-05-04T11:00:00.000Z',
    })
    const stale = { headers: { 'If-Unmodified-Since': 'Mon, 04 May 2026 10:00:00 GMT' } }
    expect((await ana.delete(path, undefined, stale)).status).toBe(412)
    const gone = await ana.delete(path)
    expect([gone.status, gone.body]).toEqual([204, ''])
    const missing = await ana.get(path)
    expect([missing.status, missing.body]).toEqual([404, { message: '404 Registry Not Found' }])
    expect((await ana.get(registriesOf(group))).body).toEqual([second])
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('has a name of its own in the group, and there are twenty at most', async () => {
    const group = await newGroup('names')
    const other = await newGroup('names-too')
    const taken = [400, { message: { name: ['has already been taken'] } }]
    for (let index = 1; index <= 20; index += 1) {
      expect((await ana.post(registriesOf(group), { name: `r${index}` })).status).toBe(201)
    }
    const full = await ana.post(registriesOf(group), { name: 'r21' })
    expect([full.status, full.body]).toEqual([
      400,
      { message: { group: ['has too many virtual registries'] } },
    ])
    const [first, next] = (await ana.get(registriesOf(group))).body
    const renamed = await ana.patch(`${ROOT}/registries/${next.id}`, { name: first.name })
    expect([renamed.status, renamed.body]).toEqual(taken)
    expect((await ana.post(registriesOf(other), { name: 'r1' })).status).toBe(201)
    const again = await ana.post(registriesOf(other), { name: 'r1' })
    expect([again.status, again.body]).toEqual(taken)
  })

  test('refuses what is no name, no description and no number', async () => {
    const sent = async (body: object) => (await ana.post(registriesOf(), body)).body
    const long = (most: number) => `is too long (maximum is ${most} characters)`
    expect(await sent({})).toEqual({ error: 'name is missing' })
    expect(await sent({ name: ' ' })).toEqual({ error: 'name is empty' })
    expect(await sent({ name: 'x'.repeat(256) })).toEqual({ error: `name ${long(255)}` })
    expect(await sent({ name: 'x', description: 'x'.repeat(1025) })).toEqual({
      error: `description ${long(1024)}`,
    })
    const id = await newRegistry()
    expect((await ana.patch(`${ROOT}/registries/${id}`, {})).status).toBe(400)
    expect((await ana.patch(`${ROOT}/registries/${id}`, { name: '' })).body).toEqual({
      error: 'name is empty',
    })
    for (const [method, path] of [
      ['GET', 'registries/one'],
      ['PATCH', 'registries/one'],
      ['DELETE', 'registries/1x'],
      ['GET', 'registries/one/upstreams'],
      ['GET', 'upstreams/one'],
      ['DELETE', 'upstreams/one/cache'],
      ['GET', 'upstreams/one/cache_entries'],
      ['PATCH', 'registry_upstreams/one'],
    ] as const) {
      const body = method === 'PATCH' ? { name: 'x', position: 1 } : undefined
      const reply = await ana.call(method, `${ROOT}/${path}`, body)
      expect([path, reply.status, reply.body.error]).toEqual([
        path,
        400,
        expect.stringMatching(/_id is invalid$/),
      ])
    }
  })

  test('takes along the upstreams that are its own alone, and what was fetched from them', async () => {
    const group = await newGroup('going')
    const [first, second] = [await newRegistry(group), await newRegistry(group)]
    const [own, shared] = [await newUpstream(first), await newUpstream(first)]
    const link = { registry_id: second, upstream_id: shared.id }
    await ana.post(`${ROOT}/registry_upstreams`, link)
    await fetched(first, own, 'org/own/1/own-1.jar')
    await fetched(second, shared, 'org/shared/1/shared-1.jar')
    expect((await ana.delete(`${ROOT}/registries/${first}/cache`)).status).toBe(204)
    const kept = async (id: number) => (await ana.get(`${ROOT}/upstreams/${id}/cache_entries`)).body
    expect([(await kept(own.id)).length, (await kept(shared.id)).length]).toEqual([0, 1])
    expect((await ana.delete(`${ROOT}/registries/${first}`)).status).toBe(204)
    expect((await ana.get(`${ROOT}/upstreams/${own.id}`)).status).toBe(404)
    expect(await orderIn(second)).toEqual([shared.id])
    expect(await kept(shared.id)).toHaveLength(1)
    expect((await ana.delete(`${ROOT}/upstreams/${shared.id}/cache`)).status).toBe(204)
    expect(await kept(shared.id)).toEqual([])
  })

  test('is read by whoever has a project in the group, and goes with the group', async () => {
    const group = await newGroup('members')
    const project = await ana.post('/projects', { name: 'p', namespace_id: group })
    const id = await newRegistry(group)
    const upstream = await newUpstream(id)
    const guest = await world.user('project-guest')
    await ana.post(`/projects/${project.body.id}/members`, { user_id: guest.id, access_level: 10 })
    expect((await guest.get(`${ROOT}/registries/${id}`)).status).toBe(200)
    expect((await guest.get(`${ROOT}/upstreams/${upstream.id}`)).status).toBe(200)
    expect((await guest.get(registriesOf(group))).body).toHaveLength(1)
    for (const [method, path, body] of [
      ['POST', registriesOf(group), { name: 'mine' }],
      ['DELETE', `${ROOT}/registries/${id}`, undefined],
      ['POST', `${ROOT}/registries/${id}/upstreams`, { url: address }],
      ['PATCH', `${ROOT}/upstreams/${upstream.id}`, { name: 'mine' }],
      ['DELETE', `${ROOT}/upstreams/${upstream.id}/cache`, undefined],
      ['PATCH', `${ROOT}/registry_upstreams/${upstream.registry_upstream.id}`, { position: 1 }],
    ] as const) {
      const reply = await guest.call(method, path, body)
      expect([method, path, reply.status, reply.body]).toEqual([
        method,
        path,
        403,
        { message: '403 Forbidden' },
      ])
    }
    expect((await ana.delete(`/groups/${group}`)).status).toBe(202)
    await world.runTasks()
    expect((await ana.get(`${ROOT}/registries/${id}`)).status).toBe(404)
    expect((await ana.get(`${ROOT}/upstreams/${upstream.id}`)).status).toBe(404)
  })
})

describe('an upstream', () => {
  test('is added at the end, with defaults and an address in one form', async () => {
    const registry = await newRegistry()
    await newUpstream(registry)
    const url = `${address.replace('127', 'HTTP://127').replace(/^http:\/\//, '')}/Maven/repo.git/`
    const made = await ana.post(`${ROOT}/registries/${registry}/upstreams`, { url })
    const now = world.ctx.now()
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(Number),
        group_id: groupId,
        url: `${address}/Maven/repo`,
        name: new URL(address).host,
        description: null,
        username: null,
        cache_validity_hours: 24,
        metadata_cache_validity_hours: 24,
        created_at: now,
        updated_at: now,
        registry_upstream: {
          id: expect.any(Number),
          registry_id: registry,
          position: 2,
        },
      },
    ])
    const { registry_upstream: link, ...upstream } = made.body
    expect((await ana.get(`${ROOT}/upstreams/${upstream.id}`)).body).toEqual({
      ...upstream,
      registry_upstreams: [link],
    })
    const { body } = await ana.get(`${ROOT}/registries/${registry}/upstreams`)
    expect(body[1]).toEqual(made.body)
  })

  test('refuses what is no address, half of the credentials, and times out of range', async () => {
    const registry = await newRegistry()
    const sent = async (body: object) => {
      const reply = await ana.post(`${ROOT}/registries/${registry}/upstreams`, body)
      expect(reply.status, JSON.stringify(body)).toBe(400)
      return reply.body
    }
    const invalid = { message: { url: ['is invalid'] } }
    expect(await sent({})).toEqual({ error: 'url is missing' })
    for (const url of [
      'ftp://a.example/x',
      'a.example',
      'http://',
      'https://u:p@a.example/x',
      'https://a.example/x?y=1',
    ]) {
      expect(await sent({ url })).toEqual(invalid)
    }
    for (const url of [
      'http://printer.local/x',
      'http://10.0.0.1/',
      'http://[::1]/',
      'http://0x7f.2/',
    ]) {
      expect(await sent({ url })).toEqual({
        message: {
          url: [
            expect.stringMatching(
              /^is blocked: requests to \S+ are not allowed: .*GITSTEAD_OUTBOUND_ALLOW/,
            ),
          ],
        },
      })
    }
    const url = `${address}/refused`
    const half = /all or none/
    expect((await sent({ url, username: 'u' })).message).toMatch(half)
    expect((await sent({ url, password: 'p' })).message).toMatch(half)
    const no = 'does not have a valid value'
    expect(await sent({ url, cache_validity_hours: -1 })).toEqual({
      error: `cache_validity_hours ${no}`,
    })
    expect(await sent({ url, metadata_cache_validity_hours: 0 })).toEqual({
      error: `metadata_cache_validity_hours ${no}`,
    })
    expect(await sent({ url, username: 'u'.repeat(511), password: 'p' })).toEqual({
      error: 'username is too long (maximum is 510 characters)',
    })
    expect(await sent({ url: `${url}/${'x'.repeat(255)}` })).toEqual({
      error: 'url is too long (maximum is 255 characters)',
    })
    expect(await orderIn(registry)).toEqual([])
  })

  test('is changed in each of its fields, and keeps its password until its name or address changes', async () => {
    const registry = await newRegistry()
    const { id, url } = await newUpstream(registry, { username: 'u', password: 'old' })
    const path = `${ROOT}/upstreams/${id}`
    const shownAs = async () => {
      asked = []
      await ana.get(`${path}/test`)
      return asked[0]?.as
    }
    const values = {
      name: 'Renamed',
      description: 'Ours',
      cache_validity_hours: 0,
      metadata_cache_validity_hours: 1,
    }
    for (const [name, value] of Object.entries(values)) {
      const reply = await ana.patch(path, { [name]: value })
      expect([name, reply.status, reply.body]).toEqual([name, 200, ''])
    }
    expect((await ana.get(path)).body).toMatchObject({ ...values, url, username: 'u' })
    expect(await shownAs()).toBe('u:old')
    await ana.patch(path, { username: 'u', password: '' })
    expect(await shownAs()).toBe('u:old')
    await ana.patch(path, { username: 'v', password: 'new' })
    expect(await shownAs()).toBe('v:new')
    const half = await ana.patch(path, { username: 'w' })
    expect([half.status, await shownAs()]).toEqual([400, 'v:new'])
    await ana.patch(path, { url: `${url}/moved`, username: 'w', password: 'w' })
    expect(await shownAs()).toBe('w:w')
    await ana.patch(path, { url })
    expect([await shownAs(), (await ana.get(path)).body.username]).toEqual(['', null])
    const none = await ana.patch(path, {})
    expect([none.status, (await ana.patch(path, { colour: 'red' })).status]).toEqual([400, 400])
    const other = await newUpstream(registry)
    const twice = await ana.patch(path, { url: `${other.url}/` })
    expect([twice.status, twice.body]).toEqual([
      400,
      { message: { group: ['already has a remote upstream with the same url and credentials'] } },
    ])
  })

  test('forgets what its old address sent when it gets another one', async () => {
    const registry = await newRegistry()
    const upstream = await newUpstream(registry)
    const path = `${ROOT}/upstreams/${upstream.id}`
    const file = 'org/a/1/a-1.jar'
    await fetched(registry, upstream, file)
    const kept = async () => (await ana.get(`${path}/cache_entries`)).body.length
    await ana.patch(path, { url: `${upstream.url}/`, name: 'the same address' })
    expect(await kept()).toBe(1)
    expect((await ana.patch(path, { url: `${upstream.url}/next` })).status).toBe(200)
    expect(await kept()).toBe(0)
    expect((await ana.get(`${ROOT}/${registry}/${file}`)).status).toBe(404)
    files = { ...files, [`${new URL(upstream.url).pathname}/next/${file}`]: 'bytes of the next' }
    expect((await ana.get(`${ROOT}/${registry}/${file}`)).body).toBe('bytes of the next')
  })

  test('does not keep what its old address still sends after it got another one', async () => {
    const registry = await newRegistry()
    const { id, url } = await newUpstream(registry)
    const file = 'org/a/1/a-1.jar'
    const root = new URL(url).pathname
    files = { [`${root}/${file}`]: 'old', [`${root}/next/${file}`]: 'new' }
    let open = () => {}
    gate = new Promise((done) => {
      open = done
    })
    // Whoever asked before the change may get what the old address sends, or nothing whole.
    const before = ana.get(`${ROOT}/${registry}/${file}`).catch(() => undefined)
    await vi.waitFor(() => expect(held).toBe(1), { timeout: 10_000 })
    expect((await ana.patch(`${ROOT}/upstreams/${id}`, { url: `${url}/next` })).status).toBe(200)
    open()
    await before
    expect((await ana.get(`${ROOT}/${registry}/${file}`)).body).toBe('new')
    const entries = `${ROOT}/upstreams/${id}/cache_entries`
    await vi.waitFor(async () => expect((await ana.get(entries)).body).toHaveLength(1), {
      timeout: 10_000,
    })
    expect((await ana.get(`${ROOT}/${registry}/${file}`)).body).toBe('new')
  })

  test('is found in its group by any part of its name', async () => {
    const group = await newGroup('searched')
    const registry = await newRegistry(group)
    for (const name of ['our_mirror', 'ourXmirror', 'Central 100%']) {
      await newUpstream(registry, { name })
    }
    const found = async (name: string) => {
      const query = `upstream_name=${encodeURIComponent(name)}`
      const { body } = await ana.get(`${upstreamsOf(group)}?${query}`)
      return body.map((one: { name: string }) => one.name)
    }
    expect(await found('our_')).toEqual(['our_mirror'])
    expect(await found('MIRROR')).toEqual(['our_mirror', 'ourXmirror'])
    expect(await found('%')).toEqual(['Central 100%'])
    expect(await found('none')).toEqual([])
    const page = await ana.get(`${upstreamsOf(group)}?per_page=2&page=2`)
    expect([page.body.length, page.headers.get('x-total')]).toEqual([1, '3'])
  })

  test('is one of twenty at most in a registry', async () => {
    const group = await newGroup('twenty')
    const [registry, other] = [await newRegistry(group), await newRegistry(group)]
    for (let index = 0; index < 20; index += 1) await newUpstream(registry)
    const body = { url: `${address}/too-many` }
    const refused = await ana.post(`${ROOT}/registries/${registry}/upstreams`, body)
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: { position: ['must be less than or equal to 20'] } },
    ])
    const { id } = await newUpstream(other)
    const linked = { registry_id: registry, upstream_id: id }
    expect((await ana.post(`${ROOT}/registry_upstreams`, linked)).status).toBe(400)
  })
})

describe('the place of an upstream in a registry', () => {
  test('is changed between 1 and 20, and its neighbours move', async () => {
    const registry = await newRegistry()
    const [a, b, c] = [
      await newUpstream(registry),
      await newUpstream(registry),
      await newUpstream(registry),
    ]
    const path = `${ROOT}/registry_upstreams/${a.registry_upstream.id}`
    const moved = await ana.patch(path, { position: 2 })
    expect([moved.status, moved.body]).toEqual([200, ''])
    expect(await orderIn(registry)).toEqual([b.id, a.id, c.id])
    await ana.patch(path, { position: 20 })
    expect(await orderIn(registry)).toEqual([b.id, c.id, a.id])
    await ana.patch(path, { position: 1 })
    expect(await orderIn(registry)).toEqual([a.id, b.id, c.id])
    for (const [position, error] of [
      [0, 'position does not have a valid value'],
      [21, 'position does not have a valid value'],
      ['first', 'position is invalid'],
      [null, 'position is missing'],
    ]) {
      const refused = await ana.patch(path, { position })
      expect([refused.status, refused.body]).toEqual([400, { error }])
    }
    expect((await ana.delete(`${ROOT}/upstreams/${a.id}`)).status).toBe(204)
    expect(await orderIn(registry)).toEqual([b.id, c.id])
    const link = `${ROOT}/registry_upstreams/${b.registry_upstream.id}`
    expect((await ana.delete(link)).status).toBe(204)
    expect(await orderIn(registry)).toEqual([c.id])
    expect((await ana.get(`${ROOT}/upstreams/${b.id}`)).body.registry_upstreams).toEqual([])
    expect((await ana.delete(link)).status).toBe(404)
  })

  test('is given once, and to upstreams of the same group', async () => {
    const elsewhere = await newRegistry(await newGroup('elsewhere'))
    const foreign = await newUpstream(elsewhere)
    const [registry, other] = [await newRegistry(), await newRegistry()]
    const { id } = await newUpstream(registry)
    const link = (upstream_id: number, registry_id = other) =>
      ana.post(`${ROOT}/registry_upstreams`, { registry_id, upstream_id })
    const made = await link(id)
    expect([made.status, made.body]).toEqual([
      201,
      { id: expect.any(Number), registry_id: other, upstream_id: id, position: 1 },
    ])
    const twice = await link(id)
    expect([twice.status, twice.body]).toEqual([
      400,
      { message: { upstream_id: ['has already been taken'] } },
    ])
    expect((await link(foreign.id)).body).toEqual({ message: '404 Upstream Not Found' })
    expect((await link(id, 999_999)).body).toEqual({ message: '404 Registry Not Found' })
    const nothing = await ana.post(`${ROOT}/registry_upstreams`, {})
    expect(nothing.body).toEqual({ error: 'registry_id is missing, upstream_id is missing' })
  })
})

/** Answers to requests that all wait for one transaction, which ends only when they do. */
async function behindOne(send: () => Promise<Reply>[]): Promise<number[]> {
  let release = () => {}
  const gate = new Promise<void>((done) => {
    release = done
  })
  const held = inTransaction(world.ctx, () => gate)
  const sent = send()
  // Those that came before this one have got as far as they get.
  for (let i = 0; i < 5; i += 1) await ana.get('/version')
  release()
  await held
  return (await Promise.all(sent)).map((reply) => reply.status).sort()
}

test('of many who bring one upstream at once, one adds it', async () => {
  const registry = await newRegistry()
  const body = { url: `${address}/at-once`, username: 'u', password: 'p' }
  const path = `${ROOT}/registries/${registry}/upstreams`
  const statuses = await behindOne(() => Array.from({ length: 8 }, () => ana.post(path, body)))
  expect(statuses).toEqual([201, ...Array(7).fill(400)])
  expect(await orderIn(registry)).toHaveLength(1)
})

test('of many who change upstreams to one address at once, one does', async () => {
  const registry = await newRegistry()
  const made: { readonly id: number }[] = []
  for (let i = 0; i < 6; i += 1) made.push(await newUpstream(registry))
  const url = `${address}/all-here`
  const statuses = await behindOne(() =>
    made.map(({ id }) => ana.patch(`${ROOT}/upstreams/${id}`, { url })),
  )
  expect(statuses).toEqual([200, ...Array(5).fill(400)])
})

test('a job reads the registries of the groups above its project alone', async () => {
  const group = await newGroup('within', { visibility: 'public' })
  const other = await newGroup('without', { visibility: 'public' })
  const [near, far] = [await newRegistry(group), await newRegistry(other)]
  const project = await createProject(ana, 'jobs', { namespace_id: group })
  await ana.post(`/projects/${project.id}/repository/files/.svc-ci.yml`, {
    branch: 'main',
    commit_message: 'one',
    content: 'x: {script: make}',
  })
  await world.runTasks()
  const runner = await addRunner(world, ana, project.id)
  const given = await runner.request()
  if (!given) throw new Error('no job')
  const job = world.withHeader('JOB-TOKEN', given.token)
  expect((await job.get(`${ROOT}/registries/${near}`)).status).toBe(200)
  expect((await job.get(`${ROOT}/registries/${far}`)).status).toBe(403)
  expect((await job.get(`${ROOT}/${far}/a/b/1/b-1.jar`)).status).toBe(401)
})

describe('what was fetched', () => {
  test('is listed newest first, searched, paged, and forgotten one by one', async () => {
    const registry = await newRegistry()
    const upstream = await newUpstream(registry)
    const paths = ['org/my_tool/1/my_tool-1.jar', 'org/myXtool/1/x-1.jar', 'org/b/1/b-1.jar']
    for (const path of paths) await fetched(registry, upstream, path)
    const root = `${ROOT}/upstreams/${upstream.id}/cache_entries`
    const list = async (query = '') =>
      (await ana.get(root + query)).body.map((one: { relative_path: string }) => one.relative_path)
    expect(await list()).toEqual([...paths].reverse())
    expect(await list('?search=my_tool')).toEqual([paths[0]])
    expect(await list('?search=ORG/MY')).toEqual([paths[1], paths[0]])
    expect(await list('?search=%25')).toEqual([])
    const page = await ana.get(`${root}?per_page=2&page=2`)
    expect([page.body.length, page.headers.get('x-total')]).toEqual([1, '3'])
    const [entry] = (await ana.get(`${root}?search=my_tool`)).body
    const now = world.ctx.now()
    expect(entry).toEqual({
      id: Buffer.from(`${upstream.id} ${paths[0]}`).toString('base64url'),
      group_id: groupId,
      upstream_id: upstream.id,
      upstream_checked_at: now,
      file_md5: expect.stringMatching(/^[0-9a-f]{32}$/),
      file_sha1: expect.stringMatching(/^[0-9a-f]{40}$/),
      size: `bytes of ${paths[0]}`.length,
      relative_path: paths[0],
      upstream_etag: '"1"',
      content_type: 'application/octet-stream',
      created_at: now,
      updated_at: now,
      downloads_count: 1,
      downloaded_at: now,
    })
    const stranger = await world.user('entry-stranger')
    expect((await stranger.delete(`${ROOT}/cache_entries/${entry.id}`)).status).toBe(404)
    const slashed = Buffer.from(`${upstream.id} /${paths[1]}`).toString('base64url')
    for (const id of [entry.id, slashed]) {
      expect((await ana.delete(`${ROOT}/cache_entries/${id}`)).status).toBe(204)
      expect((await ana.delete(`${ROOT}/cache_entries/${id}`)).status).toBe(404)
    }
    expect(await list()).toEqual([paths[2]])
    expect((await ana.delete(`${ROOT}/cache_entries/nonsense`)).status).toBe(404)
  })
})

describe('the cleanup policy of a group', () => {
  test('is made once, read, changed in each field, and deleted', async () => {
    const path = `/groups/${await newGroup('tidy')}/-/virtual_registries/cleanup/policy`
    expect((await ana.get(path)).status).toBe(404)
    expect((await ana.patch(path, { enabled: true })).status).toBe(404)
    const made = await ana.post(path, { cadence: 1, keep_n_days_after_download: 365 })
    const now = world.ctx.now()
    const first = {
      enabled: false,
      cadence: 1,
      keep_n_days_after_download: 365,
      notify_on_success: false,
      notify_on_failure: false,
      last_run_at: null,
      next_run_at: null,
      created_at: now,
      updated_at: now,
    }
    expect([made.status, made.body]).toEqual([201, first])
    expect((await ana.post(path, {})).status).toBe(400)
    const on = { ...first, enabled: true, next_run_at: '2026-05-05T10:00:00.000Z' }
    expect((await ana.patch(path, { enabled: true })).body).toEqual(on)
    for (const cadence of [7, 14, 30, 90]) {
      expect((await ana.patch(path, { cadence })).body.cadence).toBe(cadence)
    }
    for (const [values, error] of [
      [{ cadence: 2 }, { message: { cadence: ['is not included in the list'] } }],
      [{ cadence: 91 }, { error: 'cadence does not have a valid value' }],
      [
        { keep_n_days_after_download: 0 },
        { error: 'keep_n_days_after_download does not have a valid value' },
      ],
      [
        { keep_n_days_after_download: 366 },
        { error: 'keep_n_days_after_download does not have a valid value' },
      ],
      [{ notify_on_failure: 'sometimes' }, { error: 'notify_on_failure is invalid' }],
    ] as const) {
      const refused = await ana.patch(path, values)
      expect([refused.status, refused.body]).toEqual([400, error])
    }
    expect((await ana.patch(path, { enabled: false })).body.next_run_at).toBeNull()
    expect((await ana.delete(path)).status).toBe(204)
    expect((await ana.delete(path)).status).toBe(404)
  })

  test('keeps its date when something else is changed', async () => {
    const path = `/groups/${await newGroup('dated')}/-/virtual_registries/cleanup/policy`
    const made = await ana.post(path, { enabled: true, cadence: 7 })
    expect(made.body.next_run_at).toBe('2026-05-11T10:00:00.000Z')
    world.setNow('2026-05-09T10:00:00.000Z')
    const later = await ana.patch(path, { notify_on_success: true, keep_n_days_after_download: 9 })
    expect(later.body.next_run_at).toBe('2026-05-11T10:00:00.000Z')
    const sooner = await ana.patch(path, { cadence: 1 })
    expect(sooner.body.next_run_at).toBe('2026-05-10T10:00:00.000Z')
    world.setNow('2026-05-04T10:00:00.000Z')
  })
})

describe('requests for files', () => {
  test('of several upstreams end well when a later one fails in a way that nobody expects', async () => {
    const registry = await newRegistry()
    const first = await newUpstream(registry)
    await newUpstream(registry)
    const unheard: unknown[] = []
    const note = (error: unknown) => unheard.push(error)
    process.on('unhandledRejection', note)
    files = { [`${new URL(first.url).pathname}/a/b.jar`]: 'bytes' }
    const { request } = world.ctx.outbound
    const spied = vi.spyOn(world.ctx.outbound, 'request').mockImplementation(async (url, given) => {
      if (!String(url).startsWith(`${first.url}/`)) throw new TypeError('a fault')
      return await request(url, given)
    })
    expect((await ana.get(`${ROOT}/${registry}/a/b.jar`)).body).toBe('bytes')
    expect(spied).toHaveBeenCalled()
    spied.mockRestore()
    process.off('unhandledRejection', note)
    expect(unheard).toEqual([])
  })

  test('are refused beyond a thousand in 15 seconds from one address, whoever sends them', async () => {
    const registry = await newRegistry()
    const bob = await world.user('bob15')
    await ana.post(`/groups/${groupId}/members`, { user_id: bob.id, access_level: 10 })
    world.setNow('2026-05-05T10:00:00.000Z')
    const ask = async (by: Caller) => (await by.get(`${ROOT}/${registry}/a/b.jar`)).status
    const statuses: number[] = []
    for (let round = 0; round < 20; round += 1) {
      const by = round % 2 ? ana : bob
      statuses.push(...(await Promise.all(Array.from({ length: 50 }, () => ask(by)))))
    }
    // There are no upstreams.
    expect(new Set(statuses)).toEqual(new Set([400]))
    const refused = await ana.get(`${ROOT}/${registry}/a/b.jar`)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '15'])
    expect(await ask(bob)).toBe(429)
    world.setNow('2026-05-05T10:00:15.000Z')
    expect(await ask(bob)).toBe(400)
    world.setNow('2026-05-04T10:00:00.000Z')
  })
})
