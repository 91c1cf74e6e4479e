import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../../support/world.ts'
import { askRegistry, digestOf, pushImage } from '../container-registry/push-image.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let groupId: number
let projectId: number
let image: { readonly digest: string; readonly config: string }
const NAME = 'acme/p/app'
const NO_BLOB = digestOf('nothing has this digest')

beforeAll(async () => {
  const group = { name: 'acme', path: 'acme', visibility: 'public' }
  groupId = (await ana.post('/groups', group)).body.id
  projectId = await newProject('p')
  image = await pushImage(world, ana, NAME, 'v1')
})

async function newProject(path: string, more: object = {}): Promise<number> {
  const made = await ana.post('/projects', {
    name: path,
    namespace_id: groupId,
    visibility: 'private',
    ...more,
  })
  expect(made.status).toBe(201)
  return made.body.id
}

const basic = (user: string, secret: string) =>
  `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`

/** Asks below `/v2` with this `Authorization`, or with none. */
function v2(method: string, path: string, authorization?: string, raw?: string): Promise<Reply> {
  const headers: Record<string, string> = authorization ? { Authorization: authorization } : {}
  const more = raw === undefined ? {} : { raw }
  return world.nobody.call(method, `/v2/${path}`, undefined, { host: true, headers, ...more })
}

function askToken(query = '', authorization?: string, method = 'GET') {
  const headers: Record<string, string> = authorization ? { Authorization: authorization } : {}
  return world.nobody.call(method, `/jwt/auth${query}`, undefined, { host: true, headers })
}

/** Every kind of request that the protocol has, for one repository. */
const requests: readonly (readonly [string, string])[] = [
  ['GET', 'tags/list'],
  ['GET', 'manifests/v1'],
  ['HEAD', 'manifests/v1'],
  ['PUT', 'manifests/v1'],
  ['DELETE', 'manifests/v1'],
  ['GET', `blobs/${NO_BLOB}`],
  ['HEAD', `blobs/${NO_BLOB}`],
  ['DELETE', `blobs/${NO_BLOB}`],
  ['GET', `referrers/${NO_BLOB}`],
  ['POST', 'blobs/uploads/'],
  ['GET', 'blobs/uploads/00000000-0000-4000-8000-000000000000'],
  ['PATCH', 'blobs/uploads/00000000-0000-4000-8000-000000000000'],
  ['PUT', `blobs/uploads/00000000-0000-4000-8000-000000000000?digest=${NO_BLOB}`],
  ['DELETE', 'blobs/uploads/00000000-0000-4000-8000-000000000000'],
]
const hasBody = (method: string) => ['PUT', 'POST', 'PATCH'].includes(method)

describe('who has not signed in', () => {
  test.each(requests)(
    'is sent for a token by %s %s, whether there is anything or not',
    async (method, path) => {
      const { externalUrl } = world.ctx.config
      const challenge = `Bearer realm="${externalUrl}/jwt/auth",service="container_registry"`
      for (const name of [NAME, 'acme/none/app', 'nobody/nothing']) {
        const answer = await v2(
          method,
          `${name}/${path}`,
          undefined,
          hasBody(method) ? '' : undefined,
        )
        expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, challenge])
        if (method !== 'HEAD') expect(answer.body.errors[0].code).toBe('UNAUTHORIZED')
      }
    },
  )

  test('pulls from a public project with an empty token, and pushes nowhere', async () => {
    await newProject('open', { visibility: 'public' })
    await pushImage(world, ana, 'acme/open/app', 'v1')
    const { token } = (
      await askToken('?service=container_registry&scope=repository:acme/open/app:pull')
    ).body
    const bearer = `Bearer ${token}`
    const tags = await v2('GET', 'acme/open/app/tags/list', bearer)
    expect([tags.status, tags.body]).toEqual([200, { name: 'acme/open/app', tags: ['v1'] }])
    expect((await v2('GET', 'acme/open/app/tags/list')).status).toBe(200)
    for (const [method, path] of requests.filter(([method]) => !['GET', 'HEAD'].includes(method))) {
      const raw = hasBody(method) ? '' : undefined
      expect([path, (await v2(method, `acme/open/app/${path}`, bearer, raw)).status]).toEqual([
        path,
        401,
      ])
    }
    const kept = await v2('GET', 'acme/open/app/tags/list', bearer)
    expect(kept.body.tags).toEqual(['v1'])
  })
})

describe('the token service', () => {
  test('answers as Docker and containerd read it', async () => {
    const query =
      '?account=any&client_id=docker&offline_token=true&service=container_registry&scope=repository%3Aacme%2Fp%2Fapp%3Apull%2Cpush'
    const answer = await askToken(query, basic('any', ana.token ?? ''))
    expect(answer.status).toBe(200)
    const { token } = answer.body
    expect(answer.body).toEqual({
      token,
      access_token: token,
      expires_in: 900,
      issued_at: '2026-05-04T10:00:00.000Z',
    })
  })

  test('takes several scopes at once, as a push with mounts asks for', async () => {
    const scopes = 'scope=repository:acme/p/app:pull,push&scope=repository:acme/p/base:pull'
    const answer = await askToken(
      `?service=container_registry&${scopes}`,
      basic('any', ana.token ?? ''),
    )
    expect([answer.status, typeof answer.body.token]).toEqual([200, 'string'])
    expect((await v2('GET', `${NAME}/tags/list`, `Bearer ${answer.body.token}`)).status).toBe(200)
  })

  test('has no second way by POST: clients that try it first go on with GET', async () => {
    const form = {
      grant_type: 'password',
      service: 'container_registry',
      username: 'any',
      password: ana.token ?? '',
    }
    const options = { host: true, raw: new URLSearchParams(form) }
    const answer = await world.nobody.call('POST', '/jwt/auth', undefined, options)
    expect([404, 405]).toContain(answer.status)
  })

  test('gives a token that serves here alone, for a quarter of an hour', async () => {
    const { token } = (await askToken('', basic('any', ana.token ?? ''))).body
    expect((await v2('GET', '', `Bearer ${token}`)).status).toBe(200)
    const elsewhere = { headers: { Authorization: `Bearer ${token}` } }
    expect((await world.nobody.get('/user', elsewhere)).status).toBe(401)
    expect(
      (await world.nobody.get(`/projects/${projectId}/packages/pypi/simple`, elsewhere)).status,
    ).toBe(401)
    expect((await world.as(token).get('/user')).status).toBe(401)
    world.setNow('2026-05-04T10:14:59.000Z')
    expect((await v2('GET', '', `Bearer ${token}`)).status).toBe(200)
    world.setNow('2026-05-04T10:15:00.000Z')
    const over = await v2('GET', '', `Bearer ${token}`)
    expect([over.status, over.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('/jwt/auth'),
    ])
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('gives a token that ends with the secret that it was given for', async () => {
    const bob = await world.user('ends')
    await addMember(world, projectId, bob.id, 30)
    const secret = await world.token(bob.id, ['read_registry'])
    const { token } = (await askToken('', basic('ends', secret))).body
    const list = () => v2('GET', `${NAME}/tags/list`, `Bearer ${token}`)
    expect((await list()).status).toBe(200)
    const [row] = (
      await world.root.get(`/personal_access_tokens?user_id=${bob.id}&sort=created_desc`)
    ).body.filter((one: { scopes: string[] }) => one.scopes.includes('read_registry'))
    expect((await world.root.delete(`/personal_access_tokens/${row.id}`)).status).toBe(204)
    expect((await list()).status).toBe(401)
  })

  test('refuses a wrong secret, a password, and a token that cannot reach images', async () => {
    const wrong = await askToken('', basic('ana', 'wrong'))
    expect([wrong.status, wrong.body.errors[0].code]).toEqual([401, 'UNAUTHORIZED'])
    const carl = await world.user('carl')
    await world.root.put(`/users/${carl.id}`, { password: 'a-long-pass-word-1' })
    expect((await askToken('', basic('carl', 'a-long-pass-word-1'))).status).toBe(401)
    const secret = await world.token(ana.id, ['read_user'])
    expect((await v2('GET', `${NAME}/tags/list`, basic('ana', secret))).status).toBe(403)
    expect((await v2('GET', `${NAME}/tags/list`, 'Bearer svct-AAAA')).status).toBe(401)
    expect((await v2('GET', `${NAME}/tags/list`, 'Basic !!!')).status).toBe(401)
  })
})

describe('a token', () => {
  /** What a token of these scopes may do: see what there is, pull, push. */
  const scopes: readonly (readonly [readonly string[], number, number])[] = [
    [['api'], 200, 202],
    [['read_api'], 200, 403],
    [['read_registry'], 200, 403],
    [['write_registry'], 200, 202],
    [['read_repository', 'write_repository'], 403, 403],
    [['read_virtual_registry', 'write_virtual_registry'], 403, 403],
  ]

  test.each(scopes)(
    'of the scopes %j answers a pull %d and a push %d',
    async (given, pull, push) => {
      const secret = await world.token(ana.id, given)
      const { token } = (await askToken('', basic('any', secret))).body
      for (const authorization of [basic('any', secret), ...(token ? [`Bearer ${token}`] : [])]) {
        expect((await v2('GET', `${NAME}/manifests/v1`, authorization)).status).toBe(pull)
        const started = await v2('POST', `${NAME}/blobs/uploads/`, authorization, '')
        expect(started.status).toBe(push)
        if (push === 403) expect(started.body.errors[0].code).toBe('DENIED')
      }
    },
  )

  test.each([
    [['read_registry'], 200, 403],
    [['write_registry'], 200, 202],
    [['read_package_registry', 'write_package_registry'], 401, 401],
    [['read_repository'], 401, 401],
  ] as const)(
    'for deployment with %j answers a pull %d and a push %d',
    async (given, pull, push) => {
      const made = await ana.post(`/projects/${projectId}/deploy_tokens`, {
        name: 'd',
        scopes: given,
      })
      const { username, token: secret } = made.body
      const authorization = basic(username, secret)
      expect((await v2('GET', `${NAME}/manifests/v1`, authorization)).status).toBe(pull)
      const started = await v2('POST', `${NAME}/blobs/uploads/`, authorization, '')
      expect(started.status).toBeGreaterThanOrEqual(push === 202 ? 202 : 401)
      expect(started.status < 300).toBe(push === 202)
      expect((await askToken('', authorization)).status).toBe(pull === 200 ? 200 : 401)
    },
  )

  test('for deployment of a group reaches the projects below it, and no others', async () => {
    const scopes = ['read_registry', 'write_registry']
    const made = await ana.post(`/groups/${groupId}/deploy_tokens`, { name: 'g', scopes })
    const authorization = basic(made.body.username, made.body.token)
    expect((await v2('GET', `${NAME}/manifests/v1`, authorization)).status).toBe(200)
    expect((await v2('POST', `${NAME}/blobs/uploads/`, authorization, '')).status).toBe(202)
    await createProject(ana, 'own')
    expect((await v2('POST', 'ana/own/blobs/uploads/', authorization, '')).status).toBe(404)
    await ana.delete(`/groups/${groupId}/deploy_tokens/${made.body.id}`)
    expect((await v2('GET', `${NAME}/manifests/v1`, authorization)).status).toBe(401)
  })
})

describe('the role of a member', () => {
  /** Role, and what pulling, pushing and deleting answer. */
  const roles: readonly (readonly [string, number, number, number, number])[] = [
    ['Guest', 10, 200, 403, 403],
    ['Planner', 15, 200, 403, 403],
    ['Reporter', 20, 200, 403, 403],
    ['Developer', 30, 200, 202, 202],
    ['Maintainer', 40, 200, 202, 202],
  ]

  test.each(roles)(
    '%s decides on pulls, pushes and deletions',
    async (name, level, pull, push, remove) => {
      const who = await world.user(`r${level}`)
      await addMember(world, projectId, who.id, level)
      expect((await askRegistry(world, who, 'GET', `${NAME}/manifests/v1`)).status).toBe(pull)
      expect((await askRegistry(world, who, 'GET', `${NAME}/blobs/${image.config}`)).status).toBe(
        pull,
      )
      const started = await askRegistry(world, who, 'POST', `${NAME}/blobs/uploads/`, '')
      expect(started.status).toBe(push)
      const put = await askRegistry(world, who, 'PUT', `${NAME}/manifests/${name}`, '{}')
      expect(put.status).toBe(push === 202 ? 400 : 403)
      await pushImage(world, ana, 'acme/p/gone', `t${level}`)
      const gone = await askRegistry(world, who, 'DELETE', `acme/p/gone/manifests/t${level}`)
      expect(gone.status).toBe(remove)
    },
  )

  test('is none for strangers, who learn nothing of a private project', async () => {
    const stranger = await world.user('stranger')
    for (const [method, path] of requests) {
      const raw = hasBody(method) ? '' : undefined
      const known = await askRegistry(world, stranger, method, `${NAME}/${path}`, raw)
      const unknown = await askRegistry(world, stranger, method, `acme/none/${path}`, raw)
      expect([path, known.status, known.body]).toEqual([path, 404, unknown.body])
    }
  })
})

describe('the settings of a project', () => {
  test('let every user pull from an internal project, but no external one', async () => {
    await newProject('inner', { visibility: 'internal' })
    await pushImage(world, ana, 'acme/inner/app', 'v1')
    const insider = await world.user('insider')
    const external = await world.user('external', { external: true })
    const pull = (who: Caller) => askRegistry(world, who, 'GET', 'acme/inner/app/manifests/v1')
    expect([(await pull(insider)).status, (await pull(external)).status]).toEqual([200, 404])
    const push = await askRegistry(world, insider, 'POST', 'acme/inner/app/blobs/uploads/', '')
    expect([push.status, push.body.errors[0].code]).toEqual([403, 'DENIED'])
  })

  test('keep images to members, or from everybody', async () => {
    const id = await newProject('kept', { visibility: 'public' })
    await pushImage(world, ana, 'acme/kept/app', 'v1')
    const member = await world.user('keptguest')
    await addMember(world, id, member.id, 10)
    const other = await world.user('keptother')
    const pull = async (who: Caller) =>
      (await askRegistry(world, who, 'GET', 'acme/kept/app/manifests/v1')).status
    expect([await pull(member), await pull(other)]).toEqual([200, 200])
    await ana.put(`/projects/${id}`, { container_registry_access_level: 'private' })
    expect([await pull(member), await pull(other)]).toEqual([200, 403])
    expect((await v2('GET', 'acme/kept/app/manifests/v1')).status).toBe(401)
    await ana.put(`/projects/${id}`, { container_registry_access_level: 'disabled' })
    expect([await pull(ana), await pull(member)]).toEqual([403, 403])
    expect((await askRegistry(world, ana, 'POST', 'acme/kept/app/blobs/uploads/', '')).status).toBe(
      403,
    )
    await ana.put(`/projects/${id}`, { container_registry_access_level: 'enabled' })
    expect(await pull(other)).toBe(200)
  })

  test('let an archived project be pulled from, and nobody push to it', async () => {
    const id = await newProject('old')
    const { digest } = await pushImage(world, ana, 'acme/old/app', 'v1')
    await ana.post(`/projects/${id}/archive`, {})
    expect((await askRegistry(world, ana, 'GET', 'acme/old/app/manifests/v1')).status).toBe(200)
    for (const [method, path] of [
      ['POST', 'blobs/uploads/'],
      ['PUT', 'manifests/v2'],
      ['DELETE', 'manifests/v1'],
      ['DELETE', `manifests/${digest}`],
    ] as const) {
      const raw = hasBody(method) ? '' : undefined
      expect([
        path,
        (await askRegistry(world, ana, method, `acme/old/app/${path}`, raw)).status,
      ]).toEqual([path, 403])
    }
    await ana.post(`/projects/${id}/unarchive`, {})
    expect((await askRegistry(world, ana, 'DELETE', 'acme/old/app/manifests/v1')).status).toBe(202)
  })

  test('let nobody pull from a project that is being deleted', async () => {
    const id = await newProject('going')
    await pushImage(world, ana, 'acme/going/app', 'v1')
    await ana.delete(`/projects/${id}`)
    await world.runTasks()
    expect((await askRegistry(world, ana, 'GET', 'acme/going/app/manifests/v1')).status).toBe(404)
  })

  test('follow the project to another path, in any case of its letters', async () => {
    const id = await newProject('Named')
    const path = (await ana.get(`/projects/${id}`)).body.path_with_namespace
    await pushImage(world, ana, `${path.toLowerCase()}/app`, 'v1')
    const pull = async (name: string) =>
      (await askRegistry(world, ana, 'GET', `${name}/app/manifests/v1`)).status
    expect(await pull('acme/named')).toBe(200)
    await ana.put(`/projects/${id}`, { path: 'Renamed' })
    expect(await pull('acme/renamed')).toBe(200)
    const [row] = (await ana.get(`/projects/${id}/registry/repositories?tags=true`)).body
    const host = new URL(world.ctx.config.externalUrl).host
    expect(row).toMatchObject({
      path: 'acme/renamed/app',
      location: `${host}/acme/renamed/app`,
      tags: [{ path: 'acme/renamed/app:v1', location: `${host}/acme/renamed/app:v1` }],
    })
  })
})

test('a user who was blocked pulls no more, and neither does their client token', async () => {
  const dora = await world.user('dora')
  await addMember(world, projectId, dora.id, 30)
  const { token } = (await askToken('', basic('dora', dora.token ?? ''))).body
  const list = (authorization: string) => v2('GET', `${NAME}/tags/list`, authorization)
  expect((await list(`Bearer ${token}`)).status).toBe(200)
  await world.root.post(`/users/${dora.id}/block`, {})
  expect((await list(`Bearer ${token}`)).status).toBeGreaterThanOrEqual(401)
  expect((await list(basic('dora', dora.token ?? ''))).status).toBeLessThan(404)
  await world.root.post(`/users/${dora.id}/unblock`, {})
  expect((await list(`Bearer ${token}`)).status).toBe(200)
})
