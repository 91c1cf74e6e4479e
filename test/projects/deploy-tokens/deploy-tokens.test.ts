import { beforeAll, expect, test } from 'vitest'
import { signInWithBasic } from '../../../src/access/authentication/sign-in-basic.ts'
import { findVisibleProject } from '../../../src/access/subjects.ts'
import { createGroup, createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const owner = useCaller(world, 'owner')
const maintainer = useCaller(world, 'maintainer')
const stranger = useCaller(world, 'stranger')
let groupId: number
let publicId: number
let privateId: number

beforeAll(async () => {
  groupId = (await createGroup(owner, 'g', { visibility: 'public' })).id
  const project = async (name: string, visibility: string) =>
    (await createProject(owner, name, { namespace_id: groupId, visibility })).id
  publicId = await project('open', 'public')
  privateId = await project('closed', 'private')
  await owner.post(`/groups/${groupId}/members`, { user_id: maintainer.id, access_level: 40 })
})

const input = { name: 'd', scopes: ['read_repository'] }

test('a project’s token is made, listed, read and removed', async () => {
  const path = `/projects/${privateId}/deploy_tokens`
  const made = await maintainer.post(path, {
    name: 'deploy',
    scopes: ['write_registry', 'read_repository', 'read_registry'],
    expires_at: '2026-06-01',
  })
  expect(made.status).toBe(201)
  expect(made.body).toEqual({
    id: made.body.id,
    name: 'deploy',
    username: `svc+deploy-token-${made.body.id}`,
    expires_at: '2026-06-01T00:00:00.000Z',
    scopes: ['read_repository', 'read_registry', 'write_registry'],
    revoked: false,
    expired: false,
    token: expect.stringMatching(/^svcdt-/),
  })
  const { token, ...shown } = made.body
  expect((await maintainer.get(path)).body).toEqual([shown])
  expect((await maintainer.get(`${path}/${made.body.id}`)).body).toEqual(shown)
  expect((await world.root.get('/deploy_tokens')).body).toContainEqual(shown)
  expect((await maintainer.get('/deploy_tokens')).status).toBe(403)
  expect((await maintainer.delete(`${path}/${made.body.id}`)).status).toBe(204)
  const gone = await maintainer.get(`${path}/${made.body.id}`)
  expect([gone.status, gone.body]).toEqual([404, { message: '404 Not found' }])
  await expect(
    signInWithBasic(world.ctx, { user: shown.username, password: token }),
  ).rejects.toMatchObject({ status: 401 })
})

test('strangers get 404 on a private project and 403 on a public one, never 401', async () => {
  for (const caller of [world.nobody, stranger]) {
    expect((await caller.get(`/projects/${privateId}/deploy_tokens`)).status).toBe(404)
    expect((await caller.get(`/projects/${publicId}/deploy_tokens`)).status).toBe(403)
    expect((await caller.get(`/groups/${groupId}/deploy_tokens`)).status).toBe(403)
    const wrong = await caller.post(`/projects/${privateId}/deploy_tokens`, { name: 'x' })
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'scopes is missing' }])
  }
  expect((await world.nobody.get('/deploy_tokens')).status).toBe(401)
  expect((await world.nobody.get('/deploy_tokens?active=maybe')).status).toBe(400)
})

test('a group’s tokens are listed by maintainers, made and removed by owners', async () => {
  const path = `/groups/${groupId}/deploy_tokens`
  expect((await maintainer.post(path, input)).status).toBe(403)
  const made = await owner.post(path, input)
  expect(made.status).toBe(201)
  expect((await maintainer.get(path)).body).toHaveLength(1)
  expect((await maintainer.delete(`${path}/${made.body.id}`)).status).toBe(403)
  const virtual = await owner.post(path, { name: 'v', scopes: ['read_virtual_registry'] })
  expect(virtual.body).toEqual({ error: 'scopes does not have a valid value' })
  const foreign = await owner.get(`/projects/${publicId}/deploy_tokens/${made.body.id}`)
  expect(foreign.body).toEqual({ message: '404 Not found' })
})

test.each([
  [{ name: 'x', scopes: [] }, "Scopes can't be blank"],
  [{ name: '', scopes: ['read_registry'] }, "Name can't be blank"],
  [
    { ...input, username: 'a b' },
    "Username can contain only letters, digits, '_', '-', '+', and '.'",
  ],
  [{ ...input, name: 'x'.repeat(256) }, 'Name is too long (maximum is 255 characters)'],
])('refuses %j', async (body, message) => {
  const reply = await owner.post(`/projects/${publicId}/deploy_tokens`, body)
  expect([reply.status, reply.body]).toEqual([400, { message }])
})

test.each([
  ['a time ends at that time', '2026-05-04T12:30:00+02:00', '2026-05-04T10:30:00.000Z'],
  ['a day lives through that day', '2026-05-04', '2026-05-05T00:00:00.000Z'],
])('a token that was given %s', async (_, expires_at, end) => {
  const path = `/projects/${privateId}/deploy_tokens`
  const made = (await owner.post(path, { ...input, expires_at })).body
  const find = async (query: string) =>
    (await owner.get(`${path}?${query}`)).body.find((one: { id: number }) => one.id === made.id)
  const signsIn = async () => {
    const given = { user: made.username, password: made.token }
    return (await signInWithBasic(world.ctx, given)).kind === 'deploy_token'
  }
  world.setNow(new Date(Date.parse(end) - 1).toISOString())
  expect(await find('active=true')).toMatchObject({ expired: false })
  expect(await signsIn()).toBe(true)
  world.setNow(end)
  expect(await find('active=true')).toBeUndefined()
  expect(await find('')).toMatchObject({ expired: true })
  expect(await signsIn().catch(() => false)).toBe(false)
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('a token opens its project, a group’s token everything below the group, and nothing else', async () => {
  const ofGroup = (await owner.post(`/groups/${groupId}/deploy_tokens`, input)).body
  const ofProject = (await owner.post(`/projects/${privateId}/deploy_tokens`, input)).body
  const other = (await createProject(owner, 'elsewhere')).id
  const sees = async (made: { username: string; token: string }, id: number) => {
    const actor = await signInWithBasic(world.ctx, { user: made.username, password: made.token })
    return (await findVisibleProject({ ...world.ctx, actor }, String(id))) !== undefined
  }
  expect(await sees(ofGroup, privateId)).toBe(true)
  expect(await sees(ofGroup, other)).toBe(false)
  expect(await sees(ofProject, privateId)).toBe(true)
  expect(await sees(ofProject, other)).toBe(false)
  for (const headers of [
    { 'DEPLOY-TOKEN': ofProject.token },
    { 'PRIVATE-TOKEN': ofProject.token },
  ] as const) {
    expect((await world.nobody.get(`/projects/${privateId}`, { headers })).status).toBe(401)
  }
})
