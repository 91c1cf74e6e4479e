import { describe, expect, test } from 'vitest'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')

const host = { host: true } as const

describe('whoever watches the service', () => {
  test.each([
    ['/-/health', 'svc OK', 'text/plain; charset=utf-8'],
    ['/-/liveness', { status: 'ok' }, 'application/json'],
    ['/-/readiness', { status: 'ok', master_check: [{ status: 'ok' }] }, 'application/json'],
  ])('is answered by %s without signing in, whatever they send along', async (path, body, type) => {
    const callers = [
      world.nobody,
      ana,
      world.as('wrong'),
      world.withHeader('Authorization', 'Bearer x'),
    ]
    for (const caller of callers) {
      const reply = await caller.get(`${path}?private_token=wrong`, host)
      expect([reply.status, reply.body, reply.headers.get('content-type')]).toEqual([
        200,
        body,
        type,
      ])
    }
    const head = await world.nobody.head(path, host)
    expect([head.status, head.body]).toEqual([200, ''])
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const reply = await world.nobody.call(method, path, undefined, host)
      expect([method, reply.status, reply.headers.get('allow')]).toEqual([
        method,
        405,
        expect.stringContaining('GET'),
      ])
    }
  })
})

describe('the version', () => {
  test.each(['/version', '/metadata'])('at %s is for whoever is signed in', async (path) => {
    const nobody = await world.nobody.get(path)
    expect([nobody.status, nobody.body]).toEqual([401, { message: '401 Unauthorized' }])
    const { status, body } = await ana.get(path)
    expect([status, body]).toEqual([
      200,
      {
        version: expect.stringMatching(/^(1[89]|[2-9]\d)\.\d+\.\d+(-\w+)?$/),
        product: { name: 'Gitstead', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
        revision: expect.stringMatching(/\S/),
        kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
        enterprise: false,
      },
    ])
    for (const scope of ['api', 'read_api', 'read_user']) {
      const token = await world.token(ana.id, [scope])
      expect((await world.as(token).get(path)).status).toBe(200)
    }
    const token = await world.token(ana.id, ['read_repository'])
    const refused = await world.as(token).get(path)
    expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_scope'])
  })
})

describe('features', () => {
  const feature = async (name: string, body: object) => {
    const { status, body: answer } = await world.root.post(`/features/${name}`, body)
    return [status, answer.state ?? answer, answer.gates]
  }

  test('are switched for all, for a share, and for some, and forgotten again', async () => {
    expect(await feature('one', { value: true })).toEqual([
      201,
      'on',
      [{ key: 'boolean', value: true }],
    ])
    expect(await feature('one', { value: 'false' })).toEqual([
      201,
      'off',
      [{ key: 'boolean', value: false }],
    ])
    expect(await feature('one', { value: 30 })).toEqual([
      201,
      'conditional',
      [
        { key: 'boolean', value: false },
        { key: 'percentage_of_time', value: 30 },
      ],
    ])
    expect(await feature('one', { value: 0, key: 'percentage_of_actors' })).toEqual([
      201,
      'off',
      [
        { key: 'boolean', value: false },
        { key: 'percentage_of_actors', value: 0 },
      ],
    ])
    expect(await feature('two', { value: true, user: 'ana,bob', project: 'a/b' })).toEqual([
      201,
      'conditional',
      [
        { key: 'boolean', value: false },
        { key: 'actors', value: ['user:ana', 'user:bob', 'project:a/b'] },
      ],
    ])
    expect((await feature('two', { value: false, user: 'bob' }))[2]).toContainEqual({
      key: 'actors',
      value: ['user:ana', 'project:a/b'],
    })
    expect(await feature('two', { value: false, user: 'ana', project: 'a/b' })).toEqual([
      201,
      'off',
      [{ key: 'boolean', value: false }],
    ])
    const { body: all } = await world.root.get('/features')
    expect(all.map((one: { name: string }) => one.name).sort()).toEqual(['one', 'two'])
    for (const name of ['one', 'two', 'never']) {
      expect((await world.root.delete(`/features/${name}`)).status).toBe(204)
    }
    expect((await world.root.get('/features')).body).toEqual([])
  })

  test.each([
    [{}, { error: 'value is missing' }],
    [{ value: 101 }, { error: 'value is invalid' }],
    [{ value: -1 }, { error: 'value is invalid' }],
    [{ value: 'maybe' }, { error: 'value is invalid' }],
    [
      { value: 50, user: 'ana' },
      { message: '400 Bad request - percentage is not available for actors' },
    ],
    [{ value: true, key: 'percentage' }, { error: 'key does not have a valid value' }],
  ])('are not switched by %j', async (body, answer) => {
    const reply = await world.root.post('/features/wrong', body)
    expect([reply.status, reply.body]).toEqual([400, answer])
    expect((await world.root.get('/features')).body).toEqual([])
  })

  test('are for administrators', async () => {
    for (const [who, status] of [
      [ana, 403],
      [world.nobody, 401],
    ] as const) {
      expect((await who.get('/features')).status).toBe(status)
      expect((await who.post('/features/x', { value: true })).status).toBe(status)
      expect((await who.delete('/features/x')).status).toBe(status)
    }
  })
})
