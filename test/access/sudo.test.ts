import { beforeAll, describe, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { type Caller, useWorld } from '../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller

beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
})

/** Whose project a call makes, or the status with which it is refused. */
let count = 0
async function makes(caller: Caller, body: object, query = ''): Promise<string | number> {
  count += 1
  const reply = await caller.post(`/projects${query}`, { name: `p${count}`, ...body })
  return reply.status === 201 ? reply.body.namespace.full_path : reply.status
}

describe('who asks to act as another never acts as themself', () => {
  test.each([
    [{ sudo: 'ana' }, '', 'ana'],
    [{ sudo: 'ANA' }, '', 'ana'],
    [{}, '?sudo=ana', 'ana'],
    [{ sudo: null }, '', 'root'],
    [{ sudo: '' }, '', 404],
    [{}, '?sudo=', 404],
    [{}, '?sudo=0', 404],
    [{}, '?sudo=99999999999999999999', 404],
    [{}, '?sudo=ana@example.com', 404],
    [{ sudo: 1.5 }, '', 404],
    [{ sudo: ['ana'] }, '', 400],
    [{ sudo: { id: 1 } }, '', 400],
    [{ sudo: true }, '', 400],
    [{}, '?sudo[]=ana', 400],
    [{}, '?sudo[id]=ana', 400],
  ])('%j%s', async (body, query, whose) => {
    expect(await makes(root, body, query)).toBe(whose)
  })
  test('as a header, and as the number of a user', async () => {
    const asked = async (Sudo: string) => (await root.get('/user', { headers: { Sudo } })).status
    expect(await asked('')).toBe(404)
    expect(await asked(String(ana.id))).toBe(200)
    expect(await makes(root, { sudo: ana.id })).toBe('ana')
  })
  test('in a form as in JSON', async () => {
    const form = new FormData()
    form.set('name', 'in-a-form')
    form.set('sudo', '')
    expect((await root.post('/projects', undefined, { raw: form })).status).toBe(404)
    form.set('sudo', 'ana')
    const made = await root.post('/projects', undefined, { raw: form })
    expect(made.body.path_with_namespace).toBe('ana/in-a-form')
  })
  test('without signing in it is refused, empty or not', async () => {
    expect((await world.nobody.get('/users?username=ana&sudo=')).status).toBe(401)
    expect((await world.nobody.get('/users?username=ana&sudo=ana')).status).toBe(401)
  })
})

test('a token that is a list or a map is refused with 400', async () => {
  for (const query of ['private_token[]=x', 'access_token[a]=x', 'job_token[]=x']) {
    expect((await world.nobody.get(`/users?username=ana&${query}`)).status).toBe(400)
  }
  const inBody = await root.post('/projects', { name: 'odd', private_token: [ana.token] })
  expect(inBody.status).toBe(400)
})

test('the scopes of the token and the rights of the other user both count', async () => {
  const reader = world.as(await world.token(root.id, ['read_api', 'sudo']))
  const as = (user: string) => ({ headers: { Sudo: user } })
  expect((await reader.get('/user', as('ana'))).body.username).toBe('ana')
  expect((await reader.post('/projects', { name: 'no' }, as('ana'))).status).toBe(403)
  expect((await root.get('/application/settings', as('ana'))).status).toBe(403)
  expect((await root.get(`/users/${ana.id}/impersonation_tokens`, as('ana'))).status).toBe(403)
  const second = await world.user('second', { admin: true })
  expect((await root.get('/application/settings', as('second'))).status).toBe(200)
  const alone = world.as(await world.token(root.id, ['sudo']))
  expect((await alone.get('/user', as('ana'))).status).toBe(403)
  // Rights end with the role, whatever the token was given.
  await root.put(`/users/${second.id}`, { admin: false })
  expect((await second.get('/user', as('ana'))).status).toBe(403)
})

test('a blocked user can do as little through an administrator', async () => {
  const project = await createProject(ana, 'hers', { visibility: 'private' })
  const as = { headers: { Sudo: 'ana' } }
  expect((await root.get(`/projects/${project.id}`, as)).status).toBe(200)
  await root.post(`/users/${ana.id}/block`)
  expect((await root.get(`/projects/${project.id}`, as)).status).toBe(404)
  expect((await ana.get('/user')).status).toBe(403)
  await root.post(`/users/${ana.id}/unblock`)
})

test('the token of a project acts as nobody else, and the trail names the administrator', async () => {
  const project = await createProject(ana, 'bots')
  const path = `/projects/${project.id}/access_tokens`
  expect((await ana.post(path, { name: 'x', scopes: ['sudo'] })).status).toBe(400)
  const made = (await ana.post(path, { name: 'x', scopes: ['api'], access_level: 40 })).body
  const bot = world.as(made.token)
  expect((await bot.get('/user?sudo=root')).status).toBe(403)
  const token = { name: 'by sudo', scopes: ['self_rotate'] }
  await root.post('/user/personal_access_tokens', token, { headers: { Sudo: 'ana' } })
  const [event] = (await root.get(`/audit_events?entity_type=User&entity_id=${ana.id}`)).body
  expect(event).toMatchObject({ event_name: 'token_created', author_id: root.id })
})

test('an administrator acts as another in the protocols of package clients, too', async () => {
  const project = await createProject(ana, 'by-sudo')
  const file = `/projects/${project.id}/packages/generic/a/1.0`
  const options = { raw: 'x', headers: { 'Content-Type': 'application/octet-stream' } }
  const put = (name: string, sudo: string, who = root) =>
    who.call('PUT', `${file}/${name}?sudo=${sudo}`, undefined, options)
  const stranger = await world.user('stranger')
  expect((await put('one', 'ana')).status).toBe(201)
  // What the administrator may do counts no more.
  expect((await put('two', 'stranger')).status).toBe(404)
  expect((await root.get(`${file}/one`, { headers: { Sudo: 'stranger' } })).status).toBe(404)
  expect((await put('two', 'nobody-there')).status).toBe(404)
  expect((await put('two', 'ana', stranger)).status).toBe(403)
  expect((await put('two', 'ana', world.nobody)).status).toBe(401)
  const packages = (await ana.get(`/projects/${project.id}/packages`)).body
  const files = (await ana.get(`/projects/${project.id}/packages/${packages[0].id}/package_files`))
    .body
  expect(files.map((one: { file_name: string }) => one.file_name)).toEqual(['one'])
})

test('a deploy token acts as nobody else, and is not used as if it had not been asked to', async () => {
  const project = await createProject(ana, 'packages')
  const scopes = ['read_package_registry', 'write_package_registry']
  const path = `/projects/${project.id}`
  const { token } = (await ana.post(`${path}/deploy_tokens`, { name: 'd', scopes })).body
  const deploy = world.withHeader('DEPLOY-TOKEN', token)
  const list = `${path}/packages`
  const file = `${path}/packages/generic/a/1.0/f`
  const put = (query: string) =>
    deploy.call('PUT', file + query, undefined, {
      raw: 'x',
      headers: { 'Content-Type': 'application/octet-stream' },
    })
  expect((await put('')).status).toBe(201)
  for (const sudo of ['root', 'ana', '', '999999']) {
    const refused = await put(`?sudo=${sudo}`)
    expect([refused.status, refused.body]).toEqual([
      403,
      { message: '403 Forbidden - Must be admin to use sudo' },
    ])
    const headers = { Sudo: sudo }
    expect((await deploy.get(file, { headers })).status).toBe(403)
  }
  expect((await ana.get(list)).body).toHaveLength(1)
})
