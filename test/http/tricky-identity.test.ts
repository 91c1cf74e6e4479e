import { beforeAll, expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'

/*
 * Behaviours of identity and administration that are easily got wrong (docs/contract/A-resolved §16), by their numbers there.
 */

const world = useWorld()
const ana = useCaller(world, 'ana')
const bob = useCaller(world, 'bob')
let group: { id: number }
let project: { id: number }

beforeAll(async () => {
  group = await createGroup(ana, 'g', { visibility: 'public' })
  const input = { name: 'p', namespace_id: group.id, visibility: 'public' }
  project = (await ana.post('/projects', input)).body
})

test('1: a failed look-up says `404 Not found`, and an unknown path has the key `error`', async () => {
  const lookUp = await ana.get(`/projects/${project.id}/members/999999`)
  expect([lookUp.status, lookUp.body]).toEqual([404, { message: '404 Not found' }])
  expect((await ana.get('/no/such/path')).body).toEqual({ error: '404 Not Found' })
})

test('3: routes of deploy tokens never answer 401 to strangers; broadcasts check parameters first', async () => {
  expect((await world.nobody.get(`/projects/${project.id}/deploy_tokens`)).status).toBe(403)
  const hidden = await createProject(ana, 'hidden')
  expect((await world.nobody.get(`/projects/${hidden.id}/deploy_tokens`)).status).toBe(404)
  expect((await world.nobody.post('/broadcast_messages', {})).status).toBe(400)
  expect((await world.nobody.post('/broadcast_messages', { message: 'x' })).status).toBe(401)
})

test('4: billable members of a subgroup, or without the right, are 400', async () => {
  expect((await bob.get(`/groups/${group.id}/billable_members`)).status).toBe(400)
  const inner = await createGroup(ana, 'i', { parent_id: group.id })
  expect((await ana.get(`/groups/${inner.id}/billable_members`)).status).toBe(400)
})

test('6, 25: approving a request is 201, and whoever asked may take it back', async () => {
  await bob.post(`/groups/${group.id}/access_requests`)
  expect((await bob.delete(`/groups/${group.id}/access_requests/${bob.id}`)).status).toBe(204)
  await bob.post(`/groups/${group.id}/access_requests`)
  expect((await bob.get(`/groups/${group.id}/access_requests`)).status).toBe(403)
  const approved = await ana.put(`/groups/${group.id}/access_requests/${bob.id}/approve`)
  expect([approved.status, approved.body.access_level]).toEqual([201, 30])
})

test('7, 8: adding many is always 201; adding a member again is 409, an unknown user 404', async () => {
  const many = await ana.post(`/projects/${project.id}/members`, {
    user_id: `${bob.id},999999`,
    access_level: 40,
  })
  expect([many.status, many.body.status]).toEqual([201, 'error'])
  const cleo = await world.user('cleo')
  const one = { user_id: cleo.id, access_level: 30 }
  expect((await ana.post(`/projects/${project.id}/members`, one)).status).toBe(201)
  expect((await ana.post(`/projects/${project.id}/members`, one)).status).toBe(409)
  const unknown = { user_id: 999_999, access_level: 30 }
  expect((await ana.post(`/projects/${project.id}/members`, unknown)).status).toBe(404)
})

test('10: the last owner of a group stays, and nobody acts on a level above their own', async () => {
  expect((await ana.delete(`/groups/${group.id}/members/${ana.id}`)).status).toBe(403)
  const dora = await world.user('dora')
  await ana.post(`/projects/${project.id}/members`, { user_id: dora.id, access_level: 40 })
  const raise = { user_id: (await world.user('eve')).id, access_level: 50 }
  expect((await dora.post(`/projects/${project.id}/members`, raise)).status).toBe(403)
})

test('12: an unparsable date of a conditional delete is ignored, an old one is 412', async () => {
  const message = (await world.root.post('/broadcast_messages', { message: 'x' })).body
  const at = `/broadcast_messages/${message.id}`
  const old = { headers: { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' } }
  expect((await world.root.delete(at, undefined, old)).status).toBe(412)
  const broken = { headers: { 'If-Unmodified-Since': 'sometime' } }
  expect((await world.root.delete(at, undefined, broken)).status).toBe(204)
})

test('14: a name without a slash is no project, and digits are never a path', async () => {
  expect((await ana.get('/projects/p')).status).toBe(404)
  expect((await ana.get('/projects/g%2Fp')).status).toBe(200)
  expect((await ana.get('/groups/g')).status).toBe(200)
  expect((await ana.get(`/groups/${'9'.repeat(12)}`)).status).toBe(404)
})

test('15, 16: per_page is capped but never 0; keyset pages end without Link and without totals', async () => {
  const capped = await ana.get('/projects?per_page=500')
  expect(capped.headers.get('x-per-page')).toBe('100')
  expect((await ana.get('/projects?per_page=0')).status).toBe(400)
  const end = await ana.get('/projects?pagination=keyset&order_by=id&per_page=100')
  expect(end.headers.get('link')).toBeNull()
  expect(end.headers.get('x-total')).toBeNull()
})

test('18: routes of the own token take any scope, but rotating needs api or self_rotate', async () => {
  const weak = world.as(await world.token(ana.id, ['read_user']))
  expect((await weak.get('/personal_access_tokens/self')).status).toBe(200)
  expect((await weak.post('/personal_access_tokens/self/rotate')).status).toBe(403)
  expect((await weak.delete('/personal_access_tokens/self')).status).toBe(204)
})

test('19: too little scope is a 403, a token that was good once a 401, both with OAuth fields', async () => {
  const weak = world.as(await world.token(ana.id, ['read_user']))
  const scope = await weak.get('/projects')
  expect([scope.status, scope.body.error]).toEqual([403, 'insufficient_scope'])
  await weak.delete('/personal_access_tokens/self')
  const revoked = await weak.get('/user')
  expect([revoked.status, revoked.body.error]).toEqual([401, 'invalid_token'])
  expect((await world.as('never-was').get('/user')).body).toEqual({ message: '401 Unauthorized' })
})

test('21, 22: namespaces need membership; names that are taken count against suggestions', async () => {
  const zed = await world.user('zed')
  expect((await zed.get(`/namespaces/${group.id}`)).status).toBe(404)
  expect((await zed.get('/namespaces/G/exists')).body).toEqual({ exists: true, suggests: ['G1'] })
  await ana.post('/groups', { name: 'G1', path: 'otherwise' })
  expect((await zed.get('/namespaces/G/exists')).body.suggests).toEqual(['G2'])
  expect((await zed.get('/namespaces/free/exists')).body).toEqual({ exists: false, suggests: [] })
})

test('24: events appear at custom alone; watch leaves four events out', async () => {
  const at = `/projects/${project.id}/notification_settings`
  expect((await ana.get(at)).body).toEqual({ level: 'global' })
  const custom = (await ana.put(at, { level: 'custom', new_note: true })).body
  expect(custom.events).toMatchObject({ new_note: true, failed_pipeline: true, new_issue: null })
  expect((await ana.put(at, { level: 'watch' })).body).toEqual({ level: 'watch' })
})
