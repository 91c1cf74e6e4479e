import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { addProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
const bob = useCaller(world, 'bob')
let top: number
let sub: number
let inTop: number
let inSub: number
const NAMES = ['issues_count', 'merge_requests_count', 'new_members_count'] as const
const begin = Date.parse('2026-05-04T10:00:00.000Z')

beforeAll(async () => {
  const group = async (path: string, more: Record<string, unknown> = {}) =>
    (await createGroup(ana, path, { visibility: 'public', ...more })).id
  top = await group('top')
  sub = await group('sub', { parent_id: top })
  const project = async (name: string, namespace_id: number, visibility: string) =>
    (await createProject(ana, name, { namespace_id, visibility })).id
  inTop = await project('in-top', top, 'public')
  inSub = await project('in-sub', sub, 'private')
})

const count = async (name: (typeof NAMES)[number], by = ana, path = 'top'): Promise<number> => {
  const reply = await by.get(`/analytics/group_activity/${name}?group_path=${path}`)
  expect([name, reply.status, Object.keys(reply.body)]).toEqual([name, 200, [name]])
  return reply.body[name]
}
const at = (seconds: number) => world.setNow(new Date(begin + seconds * 1000).toISOString())
const DAYS = 90 * 86_400

describe('the issues of a group', () => {
  test('of the last ninety days are counted, in any state, below too, to the second', async () => {
    expect(await count('issues_count')).toBe(0)
    const { body: first } = await ana.post(`/projects/${inTop}/issues`, { title: 'one' })
    at(60)
    await ana.post(`/projects/${inSub}/issues`, { title: 'two' })
    expect(await count('issues_count')).toBe(2)
    expect(await count('issues_count', ana, 'top%2Fsub')).toBe(1)
    await ana.put(`/projects/${inTop}/issues/${first.iid}`, { state_event: 'close' })
    expect(await count('issues_count')).toBe(2)
    at(DAYS)
    expect(await count('issues_count')).toBe(2)
    at(DAYS + 1)
    expect(await count('issues_count')).toBe(1)
    at(DAYS + 61)
    expect(await count('issues_count')).toBe(0)
    at(0)
  })

  test('are those that the caller may see', async () => {
    await ana.post(`/projects/${inTop}/issues`, { title: 'secret', confidential: true })
    expect(await count('issues_count')).toBe(3)
    expect(await count('issues_count', bob)).toBe(1)
    await addMember(world, inSub, bob.id, 10)
    expect(await count('issues_count', bob)).toBe(2)
    await addMember(world, inTop, bob.id, 20)
    expect(await count('issues_count', bob)).toBe(3)
    for (const id of [inSub, inTop]) await ana.delete(`/projects/${id}/members/${bob.id}`)
    await ana.put(`/projects/${inTop}`, { issues_access_level: 'private' })
    expect(await count('issues_count', bob)).toBe(0)
    await ana.put(`/projects/${inTop}`, { issues_access_level: 'enabled' })
  })

  test('of a project that is deleted are no more', async () => {
    const { id } = await createProject(ana, 'going', { namespace_id: top })
    await ana.post(`/projects/${id}/issues`, { title: 'gone' })
    expect(await count('issues_count')).toBe(4)
    await ana.delete(`/projects/${id}`)
    expect(await count('issues_count')).toBe(3)
  })
})

test('the merge requests of a group are counted as far as the caller may see them', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'moving', visibility: 'public' })
  await ana.put(`/projects/${project.id}/transfer`, { namespace: sub })
  const branch = project.git('rev-parse', 'main')
  expect(branch).toMatch(/^[0-9a-f]{40}$/)
  await ana.post(`/projects/${project.id}/repository/branches?branch=side&ref=main`)
  const request = { title: 'x', source_branch: 'side', target_branch: 'main' }
  expect(await count('merge_requests_count')).toBe(0)
  const { body } = await ana.post(`/projects/${project.id}/merge_requests`, request)
  expect(await count('merge_requests_count')).toBe(1)
  expect(await count('merge_requests_count', bob)).toBe(1)
  expect(await count('merge_requests_count', bob, 'top%2Fsub')).toBe(1)
  await ana.put(`/projects/${project.id}/merge_requests/${body.iid}`, { state_event: 'close' })
  expect(await count('merge_requests_count')).toBe(1)
  await ana.put(`/projects/${project.id}`, { merge_requests_access_level: 'private' })
  expect(await count('merge_requests_count', bob)).toBe(0)
  expect(await count('merge_requests_count')).toBe(1)
  at(DAYS + 1)
  expect(await count('merge_requests_count')).toBe(0)
  at(0)
})

test('new members are who joined the group or one below it, each once', async () => {
  const cid = await world.user('cid')
  const dan = await world.user('dan')
  // Who made the groups is a member of both.
  expect(await count('new_members_count')).toBe(1)
  await ana.post(`/groups/${top}/members`, { user_id: bob.id, access_level: 30 })
  await ana.post(`/groups/${sub}/members`, { user_id: cid.id, access_level: 10 })
  expect(await count('new_members_count')).toBe(3)
  expect(await count('new_members_count', ana, 'top%2Fsub')).toBe(2)
  await ana.post(`/groups/${sub}/members`, { user_id: bob.id, access_level: 40 })
  expect(await count('new_members_count')).toBe(3)
  expect(await count('new_members_count', ana, 'top%2Fsub')).toBe(3)
  // Members of projects do not count, nor who only asks to be let in.
  await addMember(world, inTop, dan.id, 30)
  await dan.post(`/groups/${top}/access_requests`)
  expect(await count('new_members_count')).toBe(3)
  at(DAYS + 1)
  expect(await count('new_members_count')).toBe(0)
  await ana.delete(`/groups/${top}/members/${bob.id}`)
  at(0)
})

describe.each(NAMES)('asking for %s', (name) => {
  const path = `/analytics/group_activity/${name}`

  test('needs somebody who is signed in, then the path of a group that they see', async () => {
    for (const query of ['', '?group_path=top', '?group_path=nowhere']) {
      expect((await world.nobody.get(path + query)).status).toBe(401)
    }
    const missing = await ana.get(path)
    expect([missing.status, missing.body]).toEqual([400, { error: 'group_path is missing' }])
    await createGroup(ana, `own-${name}`, { name, visibility: 'private' })
    for (const unseen of [`own-${name}`, 'nowhere', 'top%2Fin-top', 'ana', '%00', '..']) {
      const reply = await bob.get(`${path}?group_path=${unseen}`)
      expect([unseen, [400, 404].includes(reply.status)]).toEqual([unseen, true])
      if (reply.status === 404) expect(reply.body).toEqual({ message: '404 Group Not Found' })
    }
    expect((await ana.get(`${path}?group_path=own-${name}`)).status).toBe(200)
    expect((await ana.get(`${path}?group_path=TOP`)).status).toBe(200)
    expect((await ana.get(`${path}?group_path[]=top`)).status).toBe(400)
  })
})
