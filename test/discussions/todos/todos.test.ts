import { beforeAll, describe, expect, test } from 'vitest'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const bea = useCaller(world, 'bea')
let project: TestProject

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
  await addMember(world, project.id, bea.id, 30)
})

async function todos(who: Caller, query = '') {
  const { status, body } = await who.get(`/todos${query}`)
  expect(status).toBe(200)
  return body
}

test('nobody sees to-dos of what they may see no more', async () => {
  const guest = await world.user('guest')
  await addMember(world, project.id, guest.id, 10)
  const issues = `/projects/${project.id}/issues`
  await ana.post(issues, { title: 'plain', description: '@guest' })
  expect(await todos(guest)).toMatchObject([{ target: { title: 'plain' } }])
  await ana.put(`${issues}/1`, { confidential: true })
  expect(await todos(guest)).toEqual([])
  await ana.put(`${issues}/1`, { confidential: false })
  await ana.delete(`/projects/${project.id}/members/${guest.id}`)
  expect(await todos(guest)).toEqual([])
})

test('whom a comment on a commit names gets a to-do of the commit', async () => {
  const sha = project.git('rev-parse', 'main')
  const path = `/projects/${project.id}/repository/commits/${sha}`
  const made = await ana.post(`${path}/discussions`, { body: '@bea see' })
  expect(made.status).toBe(201)
  const [todo] = await todos(bea, '?type=Commit')
  expect(todo).toMatchObject({
    action_name: 'directly_addressed',
    target_type: 'Commit',
    target: { id: sha, short_id: sha.slice(0, 8) },
    body: '@bea see',
    project: { id: project.id },
  })
  expect(todo.target_url).toContain(`/-/commit/${sha}#note_`)
  const { body: feed } = await ana.get(`/projects/${project.id}/events?action=commented`)
  expect(feed).toMatchObject([{ action_name: 'commented on', note: { noteable_type: 'Commit' } }])
  const done = await bea.post(`/todos/${todo.id}/mark_as_done`)
  expect([done.status, done.body.state]).toEqual([201, 'done'])
})

describe('a request for access', () => {
  test.each(['groups', 'projects'] as const)('waits for who decides in %s', async (kind) => {
    const name = `open-${kind}`
    const made = await ana.post(`/${kind}`, { name, path: name, visibility: 'public' })
    const path = `/${kind}/${made.body.id}/access_requests`
    await bea.post(path)
    const [todo] = await todos(ana, '?action=member_access_requested')
    expect(todo).toMatchObject({
      author: { username: 'bea' },
      target_type: kind === 'groups' ? 'Namespace' : 'Project',
      target: { id: made.body.id, name },
      body: name,
    })
    if (kind === 'groups') {
      expect(todo).toMatchObject({ project: null, group: { full_path: name } })
      expect(await todos(ana, `?group_id=${made.body.id}`)).toHaveLength(1)
    }
    await ana.put(`${path}/${bea.id}/approve`)
    expect(await todos(ana, '?action=member_access_requested')).toEqual([])
  })
})
