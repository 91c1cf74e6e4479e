import { beforeAll, describe, expect, test } from 'vitest'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let projectId: number

beforeAll(async () => {
  const input = { name: 'p', initialize_with_readme: true, visibility: 'public' }
  projectId = (await ana.post('/projects', input)).body.id
  await ana.post(`/projects/${projectId}/issues`, { title: 'One' })
  await ana.post(`/projects/${projectId}/labels`, { name: 'bug', color: '#ff0000' })
  // What is measured of a new project in the background would show between two answers.
  await world.runTasks()
})

/** Headers that may differ from one answer to the next. */
const OWN = ['date', 'x-request-id', 'x-runtime', 'connection', 'keep-alive', 'etag']
const stable = (headers: Headers) =>
  [...headers].filter(([name]) => !OWN.includes(name)).map(([name, value]) => `${name}: ${value}`)

describe('HEAD', () => {
  const file = () => `/projects/${projectId}/repository/files/README.md`
  test.each([
    ['what the token is', () => '/user'],
    ['a project', () => `/projects/${projectId}`],
    ['a list with its totals', () => '/projects?per_page=1'],
    ['a keyset list', () => '/projects?pagination=keyset&order_by=id&per_page=1'],
    ['an empty list', () => `/projects/${projectId}/milestones`],
    ['a list of names', () => `/projects/${projectId}/repository/branches`],
    ['a tree', () => `/projects/${projectId}/repository/tree?pagination=keyset&per_page=1`],
    ['a raw file', () => `${file()}/raw?ref=main`],
    ['what is not there', () => '/projects/999999'],
    ['what is refused', () => '/application/settings'],
    ['a wrong parameter', () => '/projects?per_page=0'],
    ['no route', () => '/nothing'],
  ])('of %s has the status and headers of GET, and no body', async (_, path) => {
    const [got, head] = [await ana.get(path()), await ana.head(path())]
    expect(head.status).toBe(got.status)
    expect(head.body).toBe('')
    const own = (headers: Headers) =>
      stable(headers).filter((line) => !line.startsWith('transfer-encoding'))
    expect(own(head.headers)).toEqual(own(got.headers))
  })

  test('of a file tells what the file is', async () => {
    const { status, headers } = await ana.head(`${file()}?ref=main`)
    expect(status).toBe(200)
    for (const word of ['svc', 'gitlab']) {
      expect(headers.get(`x-${word}-file-path`)).toBe('README.md')
      expect(headers.get(`x-${word}-ref`)).toBe('main')
      expect(headers.get(`x-${word}-encoding`)).toBe('base64')
      expect(headers.get(`x-${word}-execute-filemode`)).toBe('false')
      expect(headers.get(`x-${word}-blob-id`)).toMatch(/^[0-9a-f]{40}$/)
      expect(headers.get(`x-${word}-content-sha256`)).toMatch(/^[0-9a-f]{64}$/)
    }
  })

  test('writes nothing where only a write is, and is no GET to what GET refuses', async () => {
    expect((await ana.head(`/projects/${projectId}/star`)).status).toBe(405)
    expect((await world.nobody.head('/user')).status).toBe(401)
    const readUser = world.as(await world.token(ana.id, ['read_user']))
    expect((await readUser.head('/projects')).status).toBe(403)
  })
})

describe('the methods of a path', () => {
  test.each([
    ['/projects', 'GET, HEAD, OPTIONS, POST'],
    ['/projects/1', 'DELETE, GET, HEAD, OPTIONS, PUT'],
    ['/projects/1/star', 'OPTIONS, POST'],
    ['/user', 'GET, HEAD, OPTIONS'],
    ['/user/status', 'GET, HEAD, OPTIONS, PATCH, PUT'],
    ['/projects/1/issues/1', 'DELETE, GET, HEAD, OPTIONS, PUT'],
    ['/groups/g%2Fh/members', 'GET, HEAD, OPTIONS, POST'],
    // `all` might be the id of a member, too.
    ['/groups/g%2Fh/members/all', 'DELETE, GET, HEAD, OPTIONS, PUT'],
    ['/projects/1/packages/generic/a/1.0/f', 'GET, HEAD, OPTIONS, PUT'],
  ])('%s are %s, for whoever asks, and told with each refusal of another', async (path, allow) => {
    for (const caller of [ana, world.nobody, world.as('wrong')]) {
      const reply = await caller.call('OPTIONS', path)
      expect([reply.status, reply.body]).toEqual([204, ''])
      expect([path, reply.headers.get('allow')]).toEqual([path, allow])
    }
    const other = ['PATCH', 'PUT', 'DELETE', 'POST', 'GET'].find((one) => !allow.includes(one))
    if (other === undefined) return
    for (const caller of [ana, world.nobody]) {
      const refused = await caller.call(other, path)
      expect([refused.status, refused.body]).toEqual([405, { error: '405 Not Allowed' }])
      expect(refused.headers.get('allow')).toBe(allow)
    }
  })

  test('of no route are none: OPTIONS is 404 too', async () => {
    const reply = await ana.call('OPTIONS', '/nothing/here')
    expect([reply.status, reply.body]).toEqual([404, { error: '404 Not Found' }])
  })

  test('are read with their letters as they are: paths are case-sensitive, methods upper-case', async () => {
    expect((await ana.get('/Projects')).status).toBe(404)
    expect((await ana.get('/USER')).status).toBe(404)
  })

  test('no word in the headers or the query turns one into another', async () => {
    const headers = { 'X-HTTP-Method-Override': 'DELETE', 'X-Method-Override': 'DELETE' }
    await ana.post(`/projects/${projectId}?_method=DELETE`, { _method: 'DELETE' }, { headers })
    await ana.get(`/projects/${projectId}?_method=DELETE`, { headers })
    expect((await ana.get(`/projects/${projectId}`)).status).toBe(200)
  })
})

describe('a name in a path', () => {
  test.each(['%61na%2Fp', 'ana%2fp', 'ANA%2FP', 'ana%2Fp/'])('%s is ana/p', async (name) => {
    const { status, body } = await ana.get(`/projects/${name}`)
    expect([status, body.id]).toEqual([200, projectId])
  })

  test.each([
    ['ana/p', 404],
    ['ana%2Fp%2F', 404],
    ['%2Fana%2Fp', 404],
    ['ana%2F..%2Fana%2Fp', 404],
    ['ana%2F.%2Fp', 404],
    ['%2e%2e%2f', 404],
    ['ana%252Fp', 404],
    ['ana%5Cp', 404],
    ['ana%2Fp%20', 404],
    ['ana%2Fp%00', 404],
    ['ana%2Fp.git', 404],
    ['ana%2Fp%0a', 404],
    ['0', 404],
    ['-1', 404],
    ['1e3', 404],
    ['+1', 404],
    ['0x1', 404],
    ['1.0', 404],
    ['9007199254740993', 404],
    ['99999999999999999999999', 404],
    ['%D9%A1', 404],
    ['x'.repeat(7000), 404],
  ])('%s is no project', async (name, status) => {
    const reply = await ana.get(`/projects/${name}`)
    expect(reply.status).toBe(status)
    expect(JSON.stringify(reply.body)).toMatch(/404 (Project )?Not Found/)
  })

  test('of a file or branch may have its dots and slashes encoded', async () => {
    const path = `/projects/${projectId}/repository`
    const branch = { branch: 'feature/v1.0', ref: 'main' }
    expect((await ana.post(`${path}/branches`, branch)).status).toBe(201)
    for (const name of ['feature%2Fv1.0', 'feature%2Fv1%2E0', '%66eature%2fv1%2e0'])
      expect((await ana.get(`${path}/branches/${name}`)).body.name).toBe('feature/v1.0')
    expect((await ana.get(`${path}/branches/feature/v1.0`)).status).toBe(404)
    expect((await ana.get(`${path}/files/README%2Emd?ref=feature%2Fv1%2E0`)).status).toBe(200)
  })
})
