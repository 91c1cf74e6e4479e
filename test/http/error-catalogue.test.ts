import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { headOf, RawClient } from '../support/raw-request.ts'
import { openWorld, type Reply, useCaller, useWorld } from '../support/world.ts'

/** The rows of docs/contract/A-resolved §2 and D §0.2 that no other test shows, with their exact bodies. */
const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let projectId: number
let groupId: number

beforeAll(async () => {
  projectId = (await createProject(ana, 'p', { visibility: 'public' })).id
  groupId = (await createGroup(ana, 'g', { visibility: 'public' })).id
})

const seen = ({ status, body }: Reply) => [status, body]
const challenge = ({ headers }: Reply) => headers.get('www-authenticate')

describe('a token that was good once', () => {
  const expired = 'Token is expired. You can either do re-authorization or token refresh.'
  const revoked = 'Token was revoked. You have to re-authorize from the user.'
  const switchedOff = 'Token is an impersonation token but impersonation was disabled.'

  async function expectRefusal(token: string, description: string) {
    for (const caller of [world.as(token), world.withHeader('Authorization', `Bearer ${token}`)]) {
      // Also where everybody may read.
      for (const path of ['/user', `/projects/${projectId}`, '/broadcast_messages']) {
        const reply = await caller.get(path)
        expect([path, ...seen(reply)]).toEqual([
          path,
          401,
          { error: 'invalid_token', error_description: description },
        ])
        expect(challenge(reply)).toBe(
          `Bearer realm="svc", error="invalid_token", error_description="${description}"`,
        )
      }
    }
  }

  test('is refused with the reason when it has expired: from midnight of its day', async () => {
    const make = { name: 't', scopes: ['api'], expires_at: '2026-05-06' }
    const { body } = await world.root.post(`/users/${ana.id}/personal_access_tokens`, make)
    world.setNow('2026-05-05T23:59:59.999Z')
    expect((await world.as(body.token).get('/user')).status).toBe(200)
    world.setNow('2026-05-06T00:00:00.000Z')
    await expectRefusal(body.token, expired)
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('is refused with the reason when it was revoked, whether or not it has expired too', async () => {
    const make = { name: 't', scopes: ['api'], expires_at: '2026-05-06' }
    const { body } = await world.root.post(`/users/${ana.id}/personal_access_tokens`, make)
    await ana.delete(`/personal_access_tokens/${body.id}`)
    await expectRefusal(body.token, revoked)
    world.setNow('2026-05-07T10:00:00.000Z')
    await expectRefusal(body.token, revoked)
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('is refused while impersonation is switched off, if it is for that', async () => {
    const path = `/users/${ana.id}/impersonation_tokens`
    const { body } = await world.root.post(path, { name: 'i', scopes: ['api'] })
    const caller = world.as(body.token)
    expect((await caller.get('/user')).body.username).toBe('ana')
    await world.root.put('/application/settings', { impersonation_enabled: false })
    await expectRefusal(body.token, switchedOff)
    expect((await ana.get('/user')).status).toBe(200)
    await world.root.put('/application/settings', { impersonation_enabled: true })
    expect((await caller.get('/user')).status).toBe(200)
  })
})

describe('a credential that never was one', () => {
  test('is the plain 401 everywhere, and no challenge of tokens goes with it', async () => {
    for (const caller of [
      world.as('svcpat-never-was'),
      world.withHeader('Authorization', 'Bearer nothing'),
      world.withHeader('JOB-TOKEN', 'nothing'),
      world.withHeader('DEPLOY-TOKEN', 'nothing'),
    ]) {
      for (const path of ['/user', `/projects/${projectId}`, '/projects', '/nobody-knows']) {
        const reply = await caller.get(path)
        if (path === '/nobody-knows') {
          // A path that is no route is looked up before anybody.
          expect(seen(reply)).toEqual([404, { error: '404 Not Found' }])
        } else {
          expect([path, ...seen(reply)]).toEqual([path, 401, { message: '401 Unauthorized' }])
          expect(challenge(reply)).toBeNull()
        }
      }
    }
  })

  test('wins over a good one of another kind that stands behind it', async () => {
    const headers = { Authorization: `Bearer ${ana.token}` }
    expect((await world.as('wrong').get('/user', { headers })).status).toBe(401)
    // The parameter is looked at first.
    expect((await ana.get('/user?private_token=wrong')).status).toBe(401)
    const { body } = await world.as('wrong').get(`/user?private_token=${ben.token}`)
    expect(body.username).toBe('ben')
  })

  test('as Basic signs nobody in to the plain API, where it is nobody at all', async () => {
    const authorization = `Basic ${Buffer.from(`ana:${ana.token}`).toString('base64')}`
    const caller = world.withHeader('Authorization', authorization)
    expect((await caller.get('/user')).status).toBe(401)
    expect((await caller.get(`/projects/${projectId}`)).body.permissions).toBeUndefined()
  })

  test.each([
    ['blocked', 'block', '403 Forbidden - Your account has been blocked.'],
    ['banned', 'ban', '403 Forbidden - Your account has been blocked.'],
    [
      'deactivated',
      'deactivate',
      '403 Forbidden - Your account has been deactivated by your administrator. Please log back in to reactivate your account.',
    ],
  ])(
    'of somebody who was %s is 403 with the reason, on public things too',
    async (_, verb, message) => {
      const user = await world.user(`who-${verb}`)
      world.setNow('2026-09-01T10:00:00.000Z')
      expect((await world.root.post(`/users/${user.id}/${verb}`)).status).toBe(201)
      world.setNow('2026-05-04T10:00:00.000Z')
      for (const path of ['/user', `/projects/${projectId}`, '/projects/999999'])
        expect(seen(await user.get(path))).toEqual([403, { message }])
    },
  )
})

describe('a scope that is missing', () => {
  test.each([
    ['GET', '/projects', ['read_user'], 'api read_api'],
    ['POST', '/projects', ['read_api'], 'api read_api'],
    ['GET', '/user', ['read_repository'], 'api read_api read_user'],
    ['POST', '/user/runners', ['read_api'], 'api create_runner read_api'],
    ['POST', '/personal_access_tokens/self/rotate', ['read_api'], 'api read_api self_rotate'],
  ])('of %s %s is told with those that would do', async (method, path, scopes, scope) => {
    const caller = world.as(await world.token(ana.id, scopes))
    const reply = await caller.call(method, path, method === 'GET' ? undefined : {})
    expect(seen(reply)).toEqual([
      403,
      {
        error: 'insufficient_scope',
        error_description:
          'The request requires higher privileges than provided by the access token.',
        scope,
      },
    ])
    expect(challenge(reply)).toBeNull()
  })
})

describe('what was asked for wrongly', () => {
  test.each([
    [
      'POST',
      '/projects',
      {},
      400,
      { error: 'name, path are missing, at least one parameter must be provided' },
    ],
    ['POST', '/groups', {}, 400, { error: 'name is missing, path is missing' }],
    [
      'GET',
      '/projects?visibility=secret',
      undefined,
      400,
      { error: 'visibility does not have a valid value' },
    ],
    ['GET', '/projects?archived=perhaps', undefined, 400, { error: 'archived is invalid' }],
    ['GET', '/projects?id_after=1x', undefined, 400, { error: 'id_after is invalid' }],
    [
      'GET',
      '/issues?created_after=yesterday',
      undefined,
      400,
      { error: 'created_after is invalid' },
    ],
    [
      'GET',
      '/issues?created_after=2026-05-04T10:00:00+02:00',
      undefined,
      400,
      { error: 'created_after is invalid' },
    ],
    ['GET', '/projects?per_page=0', undefined, 400, { error: 'per_page has a value not allowed' }],
    ['GET', '/projects/none', undefined, 404, { message: '404 Project Not Found' }],
    ['GET', '/projects/-1', undefined, 404, { message: '404 Project Not Found' }],
    ['GET', '/groups/none', undefined, 404, { message: '404 Group Not Found' }],
    ['GET', '/users/999999', undefined, 404, { message: '404 User Not Found' }],
    ['GET', '/namespaces/none', undefined, 404, { message: '404 Namespace Not Found' }],
    ['GET', '/application/settings', undefined, 403, { message: '403 Forbidden' }],
    ['GET', '/projects/%ff', undefined, 404, { error: '404 Not Found' }],
    [
      'GET',
      '/projects?search=%ff',
      undefined,
      400,
      { error: 'Invalid query parameters: invalid %-encoding' },
    ],
    ['GET', '/projects/g%2Fp%00', undefined, 404, { error: '404 Not Found' }],
    ['BREW', '/projects', undefined, 400, undefined],
  ])('%s %s with %j is %i', async (method, path, body, status, said) => {
    if (said === undefined) {
      // A method that no parser knows never reaches the API.
      const client = await RawClient.open(world.url)
      client.write(headOf(`${method} /api/v4${path}`, {}))
      expect((await client.whole()).status).toBe(status)
      return
    }
    expect(seen(await ana.call(method, path, body))).toEqual([status, said])
  })

  test('as members, by name and number at once or by neither, is 400', async () => {
    const path = `/groups/${groupId}/members`
    const both = { user_id: ben.id, username: 'ben', access_level: 30 }
    expect(seen(await ana.post(path, both))).toEqual([
      400,
      { error: 'user_id, username are mutually exclusive' },
    ])
    expect(seen(await ana.post(path, { access_level: 30 }))).toEqual([
      400,
      { error: 'user_id, username are missing, at least one parameter must be provided' },
    ])
    expect(seen(await ana.post(path, { user_id: ben.id, access_level: 31 }))).toEqual([
      400,
      { message: { access_level: ['is not included in the list'] } },
    ])
    expect(seen(await ana.post(path, { user_id: ben.id, access_level: 30 }))[0]).toBe(201)
    expect(seen(await ana.post(path, { user_id: ben.id, access_level: 30 }))).toEqual([
      409,
      { message: 'Member already exists' },
    ])
  })

  test('of the model is a list of sentences for each field', async () => {
    expect(seen(await ana.post('/projects', { name: 'p' }))).toEqual([
      400,
      { message: expect.objectContaining({ path: ['has already been taken'] }) },
    ])
    expect(seen(await ana.post('/groups', { name: 'x', path: '-x' }))).toEqual([
      400,
      { message: expect.stringMatching(/^Failed to save group \{:path=>\["can contain only /) },
    ])
  })

  test.each([
    [
      'text/xml',
      '<name/>',
      415,
      { error: "The provided content-type 'text/xml' is not supported." },
    ],
    [
      'text/plain',
      '{}',
      415,
      { error: "The provided content-type 'text/plain' is not supported." },
    ],
    ['application/json', '{"name":', 400, { error: 'message body does not match declared format' }],
    ['application/json', '[]', 400, { error: 'message body does not match declared format' }],
    ['application/json', '"name"', 400, { error: 'message body does not match declared format' }],
    // It means no parameters, as clients send it that leave out all options.
    [
      'application/json',
      ' null\n',
      400,
      { error: 'name, path are missing, at least one parameter must be provided' },
    ],
    ['application/json', '\ufeff{"name":"x"}', 201, undefined],
  ])('in a body of %s is %s', async (type, raw, status, said) => {
    const headers = { 'Content-Type': type }
    const reply = await ana.post('/projects', undefined, { raw, headers })
    expect(reply.status).toBe(status)
    if (said) expect(reply.body).toEqual(said)
  })

  test('in a body of no UTF-8 is 400, and of a key that comes twice the last one counts', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const broken = new Uint8Array([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')])
    expect((await ana.post('/projects', undefined, { raw: broken, headers })).status).toBe(400)
    const twice = '{"name":"first","name":"second"}'
    const made = await ana.post('/projects', undefined, { raw: twice, headers })
    expect(made.body.path).toBe('second')
  })

  test('of a body above the limit is 413, in words', async () => {
    const small = await openWorld({ maxBody: 1024 })
    const eve = await small.user('eve')
    expect(seen(await eve.post('/projects', { name: 'x'.repeat(2000) }))).toEqual([
      413,
      { message: '413 Request Entity Too Large' },
    ])
    expect((await eve.post('/projects', { name: 'x' })).status).toBe(201)
    await small.close()
  })
})

describe('nothing changed', () => {
  test('is 304 with an empty body: a star twice, a subscription twice', async () => {
    expect((await ben.post(`/projects/${projectId}/star`)).status).toBe(201)
    for (const verb of ['star']) {
      const again = await ben.post(`/projects/${projectId}/${verb}`)
      expect(seen(again)).toEqual([304, ''])
      expect(again.headers.get('content-type')).toBeNull()
    }
    expect((await ben.post(`/projects/${projectId}/unstar`)).status).toBe(201)
    expect(seen(await ben.post(`/projects/${projectId}/unstar`))).toEqual([304, ''])
    const issue = (await ana.post(`/projects/${projectId}/issues`, { title: 'x' })).body
    const path = `/projects/${projectId}/issues/${issue.iid}`
    expect((await ben.post(`${path}/subscribe`)).status).toBe(201)
    expect(seen(await ben.post(`${path}/subscribe`))).toEqual([304, ''])
    expect((await ben.post(`${path}/todo`)).status).toBe(201)
    expect(seen(await ben.post(`${path}/todo`))).toEqual([304, ''])
  })
})

describe('every answer', () => {
  const replies = async () => [
    await ana.get('/user'),
    await ana.get('/projects/none'),
    await ana.post('/projects', {}),
    await world.nobody.get('/user'),
    await ana.delete('/version'),
    await ana.get('/none'),
    await ana.call('OPTIONS', '/projects'),
    await world.nobody.get('/api/v3/projects', { host: true }),
  ]

  test('tells its number, how long it took, and is neither framed nor sniffed', async () => {
    const ids = new Set<string>()
    for (const { headers } of await replies()) {
      expect(headers.get('x-frame-options')).toBe('SAMEORIGIN')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('vary')).toBe('Origin')
      expect(headers.get('x-runtime')).toMatch(/^\d+\.\d{6}$/)
      expect(headers.get('x-powered-by')).toBeNull()
      ids.add(headers.get('x-request-id') ?? '')
    }
    expect([...ids].every((id) => /^[\w-]{20,}$/.test(id))).toBe(true)
    expect(ids.size).toBe(8)
  })

  test('is JSON without a charset, which clients compare, or has no type where it has no body', async () => {
    const types = (await replies()).map(({ headers }) => headers.get('content-type'))
    expect(types).toEqual([...Array(6).fill('application/json'), null, 'application/json'])
  })

  test.each([
    ['trace-me_1.2', 'trace-me_1.2'],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['x'.repeat(129), undefined],
    ['with blank', undefined],
    ['<b>', undefined],
  ])('keeps the number %j that a client gave if it is a plain one', async (given, kept) => {
    const { headers } = await ana.get('/user', { headers: { 'X-Request-Id': given } })
    const id = headers.get('x-request-id')
    if (kept === undefined) expect(id).toMatch(/^[0-9a-f-]{36}$/)
    else expect(id).toBe(kept)
  })
})

describe('the API before this one', () => {
  const gone = { error: 'API V3 is no longer supported. Use API V4 instead.' }
  test.each([
    ['GET', '/api/v3'],
    ['GET', '/api/v3/'],
    ['GET', '/api/v3/projects?private_token=x'],
    ['POST', '/api/v3/projects'],
    ['DELETE', '/api/v3/projects/1/anything'],
  ])('%s %s is 410 for everybody', async (method, path) => {
    for (const caller of [ana, world.nobody]) {
      const reply = await caller.call(method, path, undefined, { host: true })
      expect(seen(reply)).toEqual([410, gone])
      expect(reply.headers.get('content-type')).toBe('application/json')
    }
  })
  test('has no body for HEAD, and takes nothing else from the host', async () => {
    const reply = await ana.head('/api/v3/projects', { host: true })
    expect(seen(reply)).toEqual([410, ''])
    expect((await ana.get('/api/v30', { host: true })).status).toBe(404)
  })
})
