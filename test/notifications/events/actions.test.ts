import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const ben = useCaller(world, 'ben')
let bench: Bench
let at: string

beforeAll(async () => {
  bench = await openBench(world, ana)
  at = `/projects/${bench.project.id}`
})

interface Line {
  readonly action_name: string
  readonly target_type: string | null
  readonly target_title: string | null
  readonly author_username: string
}

async function shown(query: string, who = ana): Promise<string[]> {
  const { status, body } = await who.get(`${at}/events?sort=asc&${query}`)
  expect(status).toBe(200)
  return body.map(
    (one: Line) =>
      `${one.author_username} ${one.action_name} ${one.target_type} ${one.target_title}`,
  )
}

test('members who come and go are in the feed', async () => {
  await ana.post(`${at}/members`, { user_id: ben.id, access_level: 30 })
  expect(await shown('action=joined')).toEqual(['ben joined null null'])
  const cleo = await world.user('cleo')
  await ana.post(`${at}/members`, { user_id: cleo.id, access_level: 30 })
  await cleo.delete(`${at}/members/${cleo.id}`)
  expect(await shown('action=left')).toEqual(['cleo left null null'])
})

test('a merge request is in the feed from its opening to its merge', async () => {
  bench.commit('work', { 'a.txt': 'a' })
  const { body: request } = await bench.open('work')
  const one = `${bench.api}/${request.iid}`
  await ana.put(one, { state_event: 'close' })
  await ana.put(one, { state_event: 'reopen' })
  await ben.post(`${one}/notes`, { body: 'Fine' })
  await ben.post(`${one}/approve`)
  await bench.read(request.iid)
  expect((await ana.put(`${one}/merge`)).status).toBe(200)
  await world.runTasks()
  expect(await shown('target_type=merge_request')).toEqual([
    'ana opened MergeRequest Take work',
    'ana closed MergeRequest Take work',
    'ana reopened MergeRequest Take work',
    'ben approved MergeRequest Take work',
    'ana accepted MergeRequest Take work',
  ])
  expect(await shown('action=merged')).toEqual(['ana accepted MergeRequest Take work'])
  expect(await shown('action=approved')).toEqual(['ben approved MergeRequest Take work'])
  expect(await shown('action=commented')).toEqual(['ben commented on Note Take work'])
  const { body: pushes } = await ana.get(`${at}/events?action=pushed`)
  expect(pushes[0]).toMatchObject({
    action_name: 'pushed to',
    push_data: { ref: 'main', ref_type: 'branch', action: 'pushed' },
  })
})

test('branches and tags are in the feed when they are made and removed', async () => {
  await ana.post(`${at}/repository/branches`, { branch: 'brief', ref: 'main' })
  await ana.delete(`${at}/repository/branches/brief`)
  await ana.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main' })
  await world.runTasks()
  const { body } = await ana.get(`${at}/events?action=pushed&per_page=3`)
  const lines = body.map(
    ({ action_name, push_data }: { action_name: string; push_data: Record<string, string> }) =>
      `${action_name} ${push_data.ref_type} ${push_data.ref} ${push_data.action}`,
  )
  expect(lines).toEqual([
    'pushed new tag v1 created',
    'deleted branch brief removed',
    'pushed new branch brief created',
  ])
  expect(body[1].push_data).toMatchObject({ commit_to: null, commit_count: 0 })
})

test('milestones are in the feed of those who see milestones', async () => {
  const { body: milestone } = await ana.post(`${at}/milestones`, { title: 'Secret goal' })
  await ana.put(`${at}/milestones/${milestone.id}`, { state_event: 'close' })
  expect(await shown('target_type=milestone')).toEqual([
    'ana opened Milestone Secret goal',
    'ana closed Milestone Secret goal',
  ])
  const levels = { issues_access_level: 'private', merge_requests_access_level: 'private' }
  await ana.put(at, { visibility: 'public', ...levels })
  const passer = await world.user('passer')
  expect((await passer.get(`${at}/milestones`)).status).toBe(403)
  expect(await shown('target_type=milestone', passer)).toEqual([])
  expect(await shown('target_type=merge_request', passer)).toEqual([])
  await ana.put(at, { issues_access_level: 'enabled' })
  expect(await shown('target_type=milestone', passer)).toHaveLength(2)
  await ana.put(at, { visibility: 'private' })
})

test('days before and after a line find it, in pages', async () => {
  world.setNow('2026-05-10T10:00:00.000Z')
  await ana.post(`${at}/issues`, { title: 'later' })
  world.setNow('2026-05-04T10:00:00.000Z')
  expect(await shown('after=2026-05-09')).toEqual(['ana opened Issue later'])
  expect(await shown('after=2026-05-10')).toEqual([])
  expect(await shown('before=2026-05-10&target_type=issue')).toEqual([])
  const all = (await ana.get(`${at}/events?per_page=100`)).body
  const paged = await ana.get(`${at}/events?per_page=2&page=2`)
  expect(paged.body).toEqual(all.slice(2, 4))
})

test('what somebody with a private profile did is for them and administrators to list', async () => {
  const shy = await world.user('shy')
  const project = await createProject(shy, 'Open', { visibility: 'public' })
  await shy.post(`/projects/${project.id}/issues`, { title: 'Seen' })
  await world.runTasks()
  const list = async (who: Caller) => (await who.get(`/users/${shy.id}/events`)).body.length
  expect(await list(ben)).toBeGreaterThan(1)
  expect((await world.root.put(`/users/${shy.id}`, { private_profile: true })).status).toBe(200)
  expect(await list(ben)).toBe(0)
  expect(await list(shy)).toBeGreaterThan(1)
  expect(await list(world.root)).toBeGreaterThan(1)
})
