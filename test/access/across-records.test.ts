import { expect, test } from 'vitest'
import { createGroup, createProject } from '../support/create.ts'
import { commitFiles } from '../support/fast-import.ts'
import { addMember } from '../support/members.ts'
import { addProject } from '../support/project.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const stranger = useCaller(world, 'stranger')

async function newProject(path: string, visibility: string, more: object = {}): Promise<string> {
  const { id } = await createProject(ana, path, { visibility, ...more })
  return `/projects/${id}`
}

test('the feed shows milestones to whoever may read them', async () => {
  const project = await newProject('planned', 'public')
  await ana.post(`${project}/milestones`, { title: 'Secret launch' })
  const feed = async () => JSON.stringify((await stranger.get(`${project}/events`)).body)
  expect(await feed()).toContain('Secret launch')
  const levels = { issues_access_level: 'private', merge_requests_access_level: 'private' }
  await ana.put(project, levels)
  expect((await stranger.get(`${project}/milestones`)).status).toBe(403)
  expect(await feed()).not.toContain('Secret launch')
})

test('a mention in a project that was deleted stays unseen', async () => {
  const open = await newProject('mentioned', 'public')
  const hidden = await newProject('hidden', 'private')
  await ana.post(`${open}/issues`, { title: 'Known' })
  await ana.post(`${hidden}/issues`, { title: 'Unknown', description: 'see ana/mentioned#1' })
  const notes = async (caller: Caller) =>
    (await caller.get(`${open}/issues/1/notes`)).body.map((note: { body: string }) => note.body)
  expect(await notes(ana)).toEqual(['mentioned in issue ana/hidden#1'])
  expect(await notes(stranger)).toEqual([])
  await ana.delete(hidden)
  const query = 'permanently_remove=true&full_path=ana%2Fhidden'
  await world.root.delete(`${hidden}?${query}`)
  await world.runTasks()
  expect((await world.root.get(hidden)).status).toBe(404)
  expect(await notes(stranger)).toEqual([])
})

test('a to-do of what its owner may see no more is not shown when it is done either', async () => {
  const project = await newProject('waiting', 'private')
  const id = Number(project.split('/')[2])
  const bea = await world.user('bea')
  await addMember(world, id, bea.id, 15)
  await ana.post(`${project}/issues`, { title: 'Plain', description: '@bea' })
  await ana.post(`${project}/issues/1/notes`, { body: '@bea between us', internal: true })
  const todos = async () => (await bea.get('/todos')).body
  const [ofNote, ofIssue] = await todos()
  expect([ofNote.body, ofIssue.body]).toEqual(['@bea between us', 'Plain'])
  await addMember(world, id, bea.id, 10)
  expect(await todos()).toMatchObject([{ body: 'Plain' }])
  expect((await bea.post(`/todos/${ofNote.id}/mark_as_done`)).status).toBe(404)
  await ana.put(`${project}/issues/1`, { confidential: true, title: 'Changed' })
  expect((await bea.post(`/todos/${ofIssue.id}/mark_as_done`)).status).toBe(404)
})

test('GraphQL shows pipelines to strangers as long as the jobs are public', async () => {
  const project = await addProject(world, ana, 'basic', { path: 'built', visibility: 'public' })
  commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: make}' } })
  const path = `/projects/${project.id}`
  expect((await ana.post(`${path}/pipeline`, { ref: 'main' })).status).toBe(201)
  const query = `{project(fullPath: "${project.fullPath}") {pipelines {count nodes {ref}}}}`
  const shown = async (caller: Caller) =>
    (await caller.post('/api/graphql', { query }, { host: true })).body.data.project.pipelines
  expect(await shown(stranger)).toEqual({ count: 1, nodes: [{ ref: 'main' }] })
  await ana.put(path, { public_jobs: false })
  expect((await stranger.get(`${path}/pipelines`)).status).toBe(403)
  expect(await shown(stranger)).toEqual({ count: 0, nodes: [] })
  expect(await shown(ana)).toEqual({ count: 1, nodes: [{ ref: 'main' }] })
})

test('a group does not show who belongs to hidden groups and projects below it', async () => {
  const group = await createGroup(ana, 'gg', { visibility: 'public' })
  const below = await createGroup(ana, 'below', { parent_id: group.id, visibility: 'private' })
  const inside = await newProject('inside', 'private', { namespace_id: group.id })
  const [carl, dora] = [await world.user('carl'), await world.user('dora')]
  await ana.post(`/groups/${below.id}/members`, { user_id: carl.id, access_level: 30 })
  await ana.post(`${inside}/members`, { user_id: dora.id, access_level: 30 })
  const members = async (caller: Caller) =>
    (await caller.get(`/groups/${group.id}/search?scope=users&search=a`)).body
      .map((user: { username: string }) => user.username)
      .sort()
  expect(await members(ana)).toEqual(['ana', 'carl', 'dora'])
  expect(await members(stranger)).toEqual(['ana'])
})

test('the count of merge requests of a group leaves out what the caller may not read', async () => {
  const group = await createGroup(ana, 'cc', { visibility: 'public' })
  const project = await newProject('counted', 'public', {
    namespace_id: group.id,
    initialize_with_readme: true,
  })
  await ana.post(`${project}/repository/commits`, {
    branch: 'topic',
    start_branch: 'main',
    commit_message: 'Add',
    actions: [{ action: 'create', file_path: 'a', content: 'a' }],
  })
  const branches = { source_branch: 'topic', target_branch: 'main', title: 'Take' }
  expect((await ana.post(`${project}/merge_requests`, branches)).status).toBe(201)
  const path = '/analytics/group_activity/merge_requests_count?group_path=cc'
  const count = async (caller: Caller) => (await caller.get(path)).body.merge_requests_count
  // Of a public group, members may ask.
  await addGuest(group.id, stranger)
  expect(await count(stranger)).toBe(1)
  await ana.put(project, { merge_requests_access_level: 'disabled' })
  expect(await count(stranger)).toBe(0)
})

async function addGuest(groupId: number, user: Caller): Promise<void> {
  const body = { user_id: user.id, access_level: 10 }
  expect((await ana.post(`/groups/${groupId}/members`, body)).status).toBe(201)
}
