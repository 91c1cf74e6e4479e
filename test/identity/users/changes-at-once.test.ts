import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { type Caller, useWorld } from '../../support/world.ts'

const world = useWorld()
let root: Caller
let ana: Caller
beforeAll(async () => {
  root = world.root
  ana = await world.user('ana')
})

const statuses = (replies: readonly { readonly status: number }[]) =>
  replies.map((reply) => reply.status)

test('preferences that are set at once are all kept', async () => {
  const replies = await Promise.all([
    ana.put('/user/preferences', { view_diffs_file_by_file: true }),
    ana.put('/user/preferences', { show_whitespace_in_diffs: false }),
    ana.put('/user/preferences', { pass_user_identities_to_ci_jwt: true }),
  ])
  expect(statuses(replies)).toEqual([200, 200, 200])
  expect((await ana.get('/user/preferences')).body).toMatchObject({
    view_diffs_file_by_file: true,
    show_whitespace_in_diffs: false,
    pass_user_identities_to_ci_jwt: true,
  })
})

test('parts of a status that are changed at once are all kept', async () => {
  await ana.put('/user/status', {})
  const replies = await Promise.all([
    ana.patch('/user/status', { message: 'away' }),
    ana.patch('/user/status', { availability: 'busy' }),
    ana.patch('/user/status', { emoji: 'tea' }),
    ana.patch('/user/status', { clear_status_after: '1_day' }),
  ])
  expect(statuses(replies)).toEqual([200, 200, 200, 200])
  expect((await ana.get('/user/status')).body).toMatchObject({
    message: 'away',
    availability: 'busy',
    emoji: 'tea',
    clear_status_at: '2026-05-05T10:00:00.000Z',
  })
})

test('what administrators say of a user at once is all kept', async () => {
  const ben = await world.user('ben')
  const said = {
    linkedin: 'in',
    twitter: 'tw',
    discord: '12',
    github: 'gh',
    theme_id: 3,
  }
  const replies = await Promise.all([
    ...Object.entries(said).map(([name, value]) => root.put(`/users/${ben.id}`, { [name]: value })),
    ben.put('/user/preferences', { view_diffs_file_by_file: true }),
  ])
  expect(new Set(statuses(replies))).toEqual(new Set([200]))
  expect((await root.get(`/users/${ben.id}`)).body).toMatchObject(said)
  expect((await ben.get('/user/preferences')).body.view_diffs_file_by_file).toBe(true)
})

test('a change that takes long, such as a new password, undoes nothing that was said meanwhile', async () => {
  const { id } = await world.user('greta')
  const replies = await Promise.all([
    root.put(`/users/${id}`, {
      password: 'correct horse battery',
      linkedin: 'in',
    }),
    root.put(`/users/${id}`, { twitter: 'tw' }),
  ])
  expect(statuses(replies)).toEqual([200, 200])
  expect((await root.get(`/users/${id}`)).body).toMatchObject({
    linkedin: 'in',
    twitter: 'tw',
  })
})

test('a user who is renamed many times at once has one name, and it leads to the projects', async () => {
  const carl = await world.user('carl')
  const { id } = await createProject(carl, 'p')
  const names = ['carl-a', 'carl-b', 'carl-c']
  const replies = await Promise.all(
    names.map((username) => root.put(`/users/${carl.id}`, { username })),
  )
  expect(statuses(replies)).toEqual([200, 200, 200])
  const { username } = (await carl.get('/user')).body
  expect(names).toContain(username)
  expect((await carl.get(`/projects/${id}`)).body.path_with_namespace).toBe(`${username}/p`)
  expect((await carl.get(`/projects/${encodeURIComponent(`${username}/p`)}`)).body.id).toBe(id)
  for (const old of [...names, 'carl'].filter((name) => name !== username)) {
    expect((await root.get(`/users?username=${old}`)).body).toEqual([])
    expect((await carl.get(`/projects/${encodeURIComponent(`${old}/p`)}`)).status).not.toBe(200)
  }
})

test('a user who is deleted while a new password is set is not found', async () => {
  const dora = await world.user('dora')
  const [change, removal] = await Promise.all([
    root.put(`/users/${dora.id}`, { password: 'correct horse battery' }),
    root.delete(`/users/${dora.id}`),
  ])
  expect(removal.status).toBe(204)
  expect([200, 404]).toContain(change.status)
  expect((await root.get(`/users/${dora.id}`)).status).toBe(404)
})

test('the same address is given to one of many who ask for it at once', async () => {
  const people = await Promise.all(['e1', 'e2', 'e3'].map((name) => world.user(name)))
  const replies = await Promise.all(
    people.map((one) =>
      root.put(`/users/${one.id}`, {
        email: 'one@example.org',
        skip_reconfirmation: true,
      }),
    ),
  )
  expect(statuses(replies).sort()).toEqual([200, 409, 409])
  expect((await root.get('/users?search=one@example.org')).body).toHaveLength(1)
})
