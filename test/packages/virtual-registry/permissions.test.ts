import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addRunner } from '../../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'
import { UpstreamServer } from './upstream-server.ts'

const ROOT = '/virtual_registries/packages/maven'
const JAR = 'org/x/tool/1.0/tool-1.0.jar'
const world = useWorld(
  { outboundAllow: ['127.0.0.1'], outboundTimeout: 5000 },
  { background: false },
)
const ana = useCaller(world, 'ana')
let groupId: number
let server: UpstreamServer
let registryId: number
let upstream: { readonly id: number; readonly link: number }

beforeAll(async () => {
  server = await UpstreamServer.open()
  groupId = (await createGroup(ana, 'acme')).id
  registryId = await newRegistry('main')
  upstream = await newUpstream(registryId, 'main')
})
afterAll(() => server.close())
beforeEach(() => {
  server.reset()
  server.files[`main/${JAR}`] = { body: 'the jar' }
})

async function newRegistry(name: string): Promise<number> {
  const made = await ana.post(`/groups/${groupId}/-${ROOT}/registries`, { name })
  expect(made.status).toBe(201)
  return made.body.id
}

async function newUpstream(registry: number, folder: string) {
  const url = `${server.url}/${folder}`
  const { status, body } = await ana.post(`${ROOT}/registries/${registry}/upstreams`, { url })
  expect(status).toBe(201)
  return { id: body.id as number, link: body.registry_upstream.id as number }
}

const entryId = () => Buffer.from(`${upstream.id} ${JAR}`).toString('base64url')

/** What is read, and what is changed; nothing here changes anything when it is refused. */
const reads = () => [
  `/groups/${groupId}/-${ROOT}/registries`,
  `/groups/${groupId}/-${ROOT}/upstreams`,
  `${ROOT}/registries/${registryId}`,
  `${ROOT}/registries/${registryId}/upstreams`,
  `${ROOT}/upstreams/${upstream.id}`,
  `${ROOT}/upstreams/${upstream.id}/test`,
  `${ROOT}/upstreams/${upstream.id}/cache_entries`,
]
const changes = () =>
  [
    ['POST', `/groups/${groupId}/-${ROOT}/registries`, { name: 'another' }],
    ['PATCH', `${ROOT}/registries/${registryId}`, { name: 'main' }],
    ['DELETE', `${ROOT}/registries/${registryId}/cache`, undefined],
    ['POST', `${ROOT}/registries/${registryId}/upstreams`, { url: `${server.url}/another` }],
    ['PATCH', `${ROOT}/upstreams/${upstream.id}`, { name: 'main' }],
    ['DELETE', `${ROOT}/upstreams/${upstream.id}/cache`, undefined],
    ['PATCH', `${ROOT}/registry_upstreams/${upstream.link}`, { position: 1 }],
    ['POST', `${ROOT}/registry_upstreams`, { registry_id: registryId, upstream_id: upstream.id }],
    ['DELETE', `${ROOT}/registry_upstreams/${upstream.link}`, undefined],
    ['DELETE', `${ROOT}/upstreams/${upstream.id}`, undefined],
    ['DELETE', `${ROOT}/registries/${registryId}`, undefined],
    ['DELETE', `${ROOT}/cache_entries/${entryId()}`, undefined],
  ] as const

async function member(level: number): Promise<Caller> {
  const who = await world.user(`level${level}`)
  const body = { user_id: who.id, access_level: level }
  if (level > 0) expect((await ana.post(`/groups/${groupId}/members`, body)).status).toBe(201)
  return who
}

describe('the management of registries', () => {
  test.each([10, 30])('is read and not changed by members of the level %d', async (level) => {
    const who = await member(level)
    for (const path of reads()) expect([path, (await who.get(path)).status]).toEqual([path, 200])
    const tried = { url: `${server.url}/x` }
    expect((await who.post(`/groups/${groupId}/-${ROOT}/upstreams/test`, tried)).status).toBe(200)
    for (const [method, path, body] of changes()) {
      expect([method, path, (await who.call(method, path, body)).status]).toEqual([
        method,
        path,
        403,
      ])
    }
  })

  test('is a Maintainer’s, but for the policy, which is an Owner’s', async () => {
    const who = await member(40)
    const made = await who.post(`/groups/${groupId}/-${ROOT}/registries`, { name: 'theirs' })
    expect(made.status).toBe(201)
    const at = `${ROOT}/registries/${made.body.id}`
    const added = await who.post(`${at}/upstreams`, { url: `${server.url}/theirs` })
    expect(added.status).toBe(201)
    expect((await who.patch(`${ROOT}/upstreams/${added.body.id}`, { name: 'x' })).status).toBe(200)
    const link = { registry_id: made.body.id, upstream_id: upstream.id }
    const linked = await who.post(`${ROOT}/registry_upstreams`, link)
    expect(linked.status).toBe(201)
    expect(
      (await who.patch(`${ROOT}/registry_upstreams/${linked.body.id}`, { position: 1 })).status,
    ).toBe(200)
    expect((await who.delete(`${ROOT}/registry_upstreams/${linked.body.id}`)).status).toBe(204)
    expect((await who.delete(at)).status).toBe(204)
    const policy = `/groups/${groupId}/-/virtual_registries/cleanup/policy`
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', { enabled: true }],
      ['PATCH', { enabled: true }],
      ['DELETE', undefined],
    ] as const) {
      expect([method, (await who.call(method, policy, body)).status]).toEqual([method, 403])
    }
    expect((await ana.get(policy)).status).toBe(404)
    expect((await ana.post(policy, {})).status).toBe(201)
    expect((await ana.delete(policy)).status).toBe(204)
  })

  test('of a private group is nothing to strangers, and nothing without a token', async () => {
    const stranger = await member(0)
    for (const path of reads()) {
      expect([path, (await stranger.get(path)).status]).toEqual([path, 404])
      expect([path, (await world.nobody.get(path)).status]).toEqual([path, 401])
    }
    for (const [method, path, body] of changes()) {
      expect([method, path, (await stranger.call(method, path, body)).status]).toEqual([
        method,
        path,
        404,
      ])
      expect([method, path, (await world.nobody.call(method, path, body)).status]).toEqual([
        method,
        path,
        401,
      ])
    }
  })

  test('of a public group is refused to strangers', async () => {
    await ana.put(`/groups/${groupId}`, { visibility: 'public' })
    const stranger = await world.user('passerby')
    for (const path of reads())
      expect([path, (await stranger.get(path)).status]).toEqual([path, 403])
    for (const [method, path, body] of changes()) {
      expect([method, path, (await stranger.call(method, path, body)).status]).toEqual([
        method,
        path,
        403,
      ])
    }
    expect((await stranger.get(`${ROOT}/${registryId}/${JAR}`)).status).toBe(401)
    await ana.put(`/groups/${groupId}`, { visibility: 'private' })
  })

  test('takes tokens by their scopes, and no deploy tokens', async () => {
    const status = async (scopes: readonly string[], method = 'GET') => {
      const who = world.as(await world.token(ana.id, scopes))
      const path = `${ROOT}/registries/${registryId}`
      return (await who.call(method, path, method === 'GET' ? undefined : { name: 'main' })).status
    }
    expect([await status(['api']), await status(['api'], 'PATCH')]).toEqual([200, 200])
    expect([await status(['read_api']), await status(['read_api'], 'PATCH')]).toEqual([200, 403])
    expect(await status(['read_virtual_registry', 'write_virtual_registry'])).toBe(403)
    const scopes = ['read_package_registry']
    const { token } = (await ana.post(`/groups/${groupId}/deploy_tokens`, { name: 'd', scopes }))
      .body
    for (const path of reads()) {
      const who = world.withHeader('DEPLOY-TOKEN', token)
      expect([path, (await who.get(path)).status]).toEqual([path, 401])
    }
  })

  test('is everybody’s nothing in a subgroup', async () => {
    const sub = { name: 'sub', path: 'sub', parent_id: groupId }
    const { id } = (await ana.post('/groups', sub)).body
    expect((await ana.get(`/groups/${id}/-${ROOT}/registries`)).status).toBe(403)
    expect((await ana.post(`/groups/${id}/-${ROOT}/registries`, { name: 'x' })).status).toBe(403)
    const message = '400 Bad request - only available on top-level groups.'
    for (const answer of [
      await ana.get(`/groups/${id}/-${ROOT}/upstreams`),
      await ana.post(`/groups/${id}/-${ROOT}/upstreams/test`, { url: server.url }),
    ]) {
      expect([answer.status, answer.body]).toEqual([400, { message }])
    }
  })

  test('knows no ids but numbers', async () => {
    for (const id of ['x', '1.5', '-1', '1e3', '9'.repeat(30)]) {
      for (const path of [`registries/${id}`, `upstreams/${id}`, `upstreams/${id}/cache_entries`]) {
        expect([path, [400, 404]]).toEqual([
          path,
          expect.arrayContaining([(await ana.get(`${ROOT}/${path}`)).status]),
        ])
      }
    }
    for (const id of [
      'x',
      'AAAA',
      Buffer.from('1 ').toString('base64url'),
      Buffer.from(`${upstream.id} none`).toString('base64url'),
    ]) {
      expect([id, (await ana.delete(`${ROOT}/cache_entries/${id}`)).status]).toEqual([id, 404])
    }
  })
})

describe('the files of a registry', () => {
  const at = (path = JAR) => `${ROOT}/${registryId}/${path}`
  const basic = (secret: string, user = 'any') => ({
    headers: { Authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}` },
  })

  test.each([
    [['api'], 200],
    [['read_api'], 200],
    [['read_virtual_registry'], 200],
    [['write_virtual_registry'], 200],
    [['read_user'], 403],
    [['read_registry', 'write_registry'], 403],
    [['read_repository'], 403],
  ])('are answered to a token of the scopes %j with %d, by each header', async (scopes, status) => {
    const secret = await world.token(ana.id, scopes)
    for (const options of [
      { headers: { 'Private-Token': secret } },
      { headers: { Authorization: `Bearer ${secret}` } },
      basic(secret, 'ana'),
    ]) {
      expect((await world.nobody.get(at(), options)).status).toBe(status)
    }
  })

  test('are answered to deploy tokens of projects of the group that may read them', async () => {
    const { id } = await createProject(ana, 'deployed', { namespace_id: groupId })
    const made = async (scopes: readonly string[], project = id) =>
      (await ana.post(`/projects/${project}/deploy_tokens`, { name: 'd', scopes })).body
    for (const scope of ['read_virtual_registry', 'write_virtual_registry']) {
      const { token, username } = await made([scope])
      const options = { headers: { 'Deploy-Token': token } }
      expect((await world.nobody.get(at(), options)).status).toBe(200)
      expect((await world.nobody.get(at(), basic(token, username))).status).toBe(200)
      expect((await world.nobody.get(`${ROOT}/registries/${registryId}`, options)).status).toBe(401)
    }
    const packages = await made(['read_package_registry', 'read_repository'])
    const elsewhere = (await createProject(ana, 'elsewhere')).id
    const foreign = await made(['read_virtual_registry'], elsewhere)
    for (const { token, username } of [packages, foreign]) {
      const refused = await world.nobody.get(at(), basic(token, username))
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        401,
        'Basic realm="svc Virtual Registry"',
      ])
    }
  })

  test('are answered to jobs of projects of the group, and to no others', async () => {
    const tokenOf = async (namespace_id: number, name: string) => {
      const { id } = (await ana.post('/projects', { name, namespace_id })).body
      const content = 'x: {script: make}'
      const file = { branch: 'main', commit_message: 'one', content }
      await ana.post(`/projects/${id}/repository/files/.svc-ci.yml`, file)
      await ana.post(`/projects/${id}/pipeline`, { ref: 'main' })
      await world.runTasks()
      return (await (await addRunner(world, ana, id)).request())?.token ?? ''
    }
    const inside = await tokenOf(groupId, 'inside')
    expect((await world.nobody.get(at(), { headers: { 'Job-Token': inside } })).status).toBe(200)
    expect((await world.nobody.get(at(), basic(inside, 'svc-ci-token'))).status).toBe(200)
    const far = (await createGroup(ana, 'far')).id
    const outside = await tokenOf(far, 'outside')
    expect((await world.nobody.get(at(), { headers: { 'Job-Token': outside } })).status).toBe(401)
  })

  test('ask who has not signed in, or may not read, to sign in', async () => {
    const stranger = await world.user('filestranger')
    for (const answer of [
      await world.nobody.get(at()),
      await stranger.get(at()),
      await world.nobody.get(at(), basic('wrong')),
      await world.nobody.get(at(), { headers: { Authorization: 'Bearer wrong' } }),
    ]) {
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        401,
        'Basic realm="svc Virtual Registry"',
      ])
    }
    expect(server.asked).toEqual([])
    expect((await ana.get(`${ROOT}/999999/${JAR}`)).status).toBe(404)
    expect((await world.nobody.get(`${ROOT}/999999/${JAR}`)).status).toBe(401)
  })

  test('are a Guest’s, until they leave', async () => {
    const guest = await world.user('fileguest')
    const body = { user_id: guest.id, access_level: 10 }
    await ana.post(`/groups/${groupId}/members`, body)
    expect((await guest.get(at())).status).toBe(200)
    await ana.delete(`/groups/${groupId}/members/${guest.id}`)
    expect((await guest.get(at())).status).toBe(401)
  })

  test('are not mixed up with what stands beside them', async () => {
    for (const path of [
      'registries/none',
      'upstreams',
      'registry_upstreams/x/y',
      'cache_entries/x/y',
      'none/x.jar',
      '1x/x.jar',
    ]) {
      const answer = await ana.get(`${ROOT}/${path}`)
      expect([path, answer.status]).toEqual([path, answer.status === 400 ? 400 : 404])
    }
    expect(server.asked).toEqual([])
  })
})

describe('a description', () => {
  test('of a registry or upstream is cleared by null, and left alone by its absence', async () => {
    const id = await newRegistry('described')
    const path = `${ROOT}/registries/${id}`
    await ana.patch(path, { name: 'described', description: 'words' })
    await ana.patch(path, { name: 'described too' })
    expect((await ana.get(path)).body).toMatchObject({
      name: 'described too',
      description: 'words',
    })
    const cleared = await ana.patch(path, { name: 'described', description: null })
    expect([cleared.status, (await ana.get(path)).body.description]).toEqual([200, null])
    const made = await newUpstream(id, 'described')
    const at = `${ROOT}/upstreams/${made.id}`
    await ana.patch(at, { description: 'words' })
    expect((await ana.get(at)).body.description).toBe('words')
    expect((await ana.patch(at, { description: null })).status).toBe(200)
    expect((await ana.get(at)).body.description).toBeNull()
  })
})

describe('a cleanup policy', () => {
  const policyOf = (group: number) => `/groups/${group}/-/virtual_registries/cleanup/policy`

  test('forgets what nobody has downloaded in its days, of its own group alone', async () => {
    const other = (await createGroup(ana, 'beside')).id
    const second = (await ana.post(`/groups/${other}/-${ROOT}/registries`, { name: 'x' })).body.id
    const url = `${server.url}/beside`
    const beside = (await ana.post(`${ROOT}/registries/${second}/upstreams`, { url })).body
    const paths = ['a/old.jar', 'a/used.jar']
    for (const path of paths) {
      server.files[`main/${path}`] = { body: path }
      server.files[`beside/${path}`] = { body: path }
      await ana.get(`${ROOT}/${registryId}/${path}`)
      await ana.get(`${ROOT}/${second}/${path}`)
    }
    const kept = async (id: number): Promise<string[]> => {
      const { body } = await ana.get(`${ROOT}/upstreams/${id}/cache_entries?search=a/`)
      return body.map((one: { relative_path: string }) => one.relative_path).sort()
    }
    await expect.poll(() => kept(upstream.id)).toEqual(paths)
    await expect.poll(() => kept(beside.id)).toEqual(paths)
    const rule = { enabled: true, cadence: 1, keep_n_days_after_download: 3 }
    expect((await ana.post(policyOf(groupId), rule)).status).toBe(201)
    world.setNow('2026-05-06T10:00:00.000Z')
    await ana.get(`${ROOT}/${registryId}/a/used.jar`)
    await world.runTasks()
    expect(await kept(upstream.id)).toEqual(paths)
    world.setNow('2026-05-08T10:00:00.000Z')
    await world.runTasks()
    expect(await kept(upstream.id)).toEqual(['a/used.jar'])
    expect(await kept(beside.id)).toEqual(paths)
    const { body } = await ana.get(policyOf(groupId))
    expect(body).toMatchObject({
      last_run_at: '2026-05-08T10:00:00.000Z',
      next_run_at: '2026-05-09T10:00:00.000Z',
    })
    await ana.patch(policyOf(groupId), { enabled: false })
    world.setNow('2026-06-08T10:00:00.000Z')
    await world.runTasks()
    expect(await kept(upstream.id)).toEqual(['a/used.jar'])
    world.setNow('2026-05-04T10:00:00.000Z')
  })
})
