import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const stranger = useCaller(world, 'stranger')
let project: string

beforeAll(async () => {
  project = await newProject('open', 'public')
  for (const branch of ['one', 'two']) {
    const actions = [{ action: 'create', file_path: branch, content: branch }]
    const commit = { branch, start_branch: 'main', commit_message: 'Add', actions }
    expect((await ana.post(`${project}/repository/commits`, commit)).status).toBe(201)
  }
})

async function newProject(path: string, visibility: string): Promise<string> {
  const { id } = await createProject(ana, path, { visibility, initialize_with_readme: true })
  return `/projects/${id}`
}

async function made(path: string, body: object): Promise<string> {
  const reply = await ana.post(path, body)
  expect(reply.status).toBe(201)
  return `${path}/${reply.body.iid}`
}

function newMergeRequest(source_branch: string, more: object = {}): Promise<string> {
  const branches = { source_branch, target_branch: 'main', title: source_branch }
  return made(`${project}/merge_requests`, { ...branches, ...more })
}

test('issues that a merge closes or mentions are listed and counted as far as they are seen', async () => {
  const hidden = await newProject('hidden', 'private')
  await made(`${hidden}/issues`, { title: 'Elsewhere' })
  await made(`${project}/issues`, { title: 'Secret', confidential: true })
  await made(`${project}/issues`, { title: 'Plain' })
  const description = 'Closes #1, closes ana/hidden#1, closes #2'
  const request = await newMergeRequest('one', { description })
  for (const list of ['closes_issues', 'related_issues']) {
    const seen = async (caller: Caller) => {
      const { body, headers } = await caller.get(`${request}/${list}?per_page=1&page=1`)
      return [body.map((one: { title: string }) => one.title), headers.get('X-Total')]
    }
    expect(await seen(stranger)).toEqual([['Plain'], '1'])
    expect((await seen(ana))[1]).toBe('3')
  }
})

test('an internal note makes only those participants who may read it', async () => {
  const planner = await world.user('planner')
  await ana.post(`${project}/members`, { user_id: planner.id, access_level: 15 })
  const places = [await made(`${project}/issues`, { title: 'Talk' }), await newMergeRequest('two')]
  for (const place of places) {
    const note = { body: 'not for @stranger but for @planner', internal: true }
    expect((await ana.post(`${place}/notes`, note)).status).toBe(201)
    const { body } = await ana.get(`${place}/participants`)
    expect(body.map((one: { username: string }) => one.username)).toEqual(['ana', 'planner'])
    expect((await stranger.get('/todos')).body).toEqual([])
    const count = async (caller: Caller) => (await caller.get(place)).body.user_notes_count
    expect([await count(ana), await count(planner)]).toEqual([1, 1])
    expect([await count(stranger), await count(world.nobody)]).toEqual([0, 0])
  }
})

test('a release counts the issues of its milestones as far as they are seen', async () => {
  const milestone = await ana.post(`${project}/milestones`, { title: 'First' })
  const milestone_id = milestone.body.id
  await made(`${project}/issues`, { title: 'Known', milestone_id })
  const secret = { title: 'Unknown', milestone_id, confidential: true }
  await ana.put(await made(`${project}/issues`, secret), { state_event: 'close' })
  await ana.post(`${project}/releases`, { tag_name: 'v1', ref: 'main', milestones: ['First'] })
  const counts = async (caller: Caller) =>
    (await caller.get(`${project}/releases/v1`)).body.milestones[0].issue_stats
  expect(await counts(ana)).toEqual({ total: 2, closed: 1 })
  expect(await counts(stranger)).toEqual({ total: 1, closed: 0 })
})
