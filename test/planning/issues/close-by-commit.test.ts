import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
  await addMember(world, project.id, dev.id, 30)
})

async function commit(who: Caller, message: string, branch: string) {
  const made = await who.post(`/projects/${project.id}/repository/commits`, {
    branch,
    ...(branch === 'main' ? {} : { start_branch: 'main' }),
    commit_message: message,
    actions: [{ action: 'create', file_path: message, content: 'x' }],
  })
  expect(made.status).toBe(201)
  await world.runTasks()
  return made.body.id as string
}

test('a commit that lands on the default branch closes the issues that it names', async () => {
  const issues = `/projects/${project.id}/issues`
  const other = await createProject(ana, 'other')
  await ana.post(`/projects/${other.id}/issues`, { title: 'far' })
  await ana.post(issues, { title: 'one' })
  await ana.post(issues, { title: 'two' })
  await commit(dev, 'Fixes #1 on a branch', 'work')
  expect((await ana.get(`${issues}/1`)).body.state).toBe('opened')
  const sha = await commit(dev, 'Closes #1 and ana/other#1', 'main')
  expect((await ana.get(`${issues}/1`)).body).toMatchObject({
    state: 'closed',
    closed_by: { username: 'dev' },
  })
  expect((await ana.get(`/projects/${other.id}/issues/1`)).body.state).toBe('opened')
  const notes = (await ana.get(`${issues}/1/notes`)).body.map((note: { body: string }) => note.body)
  expect(notes).toContain(`closed via commit ${sha}`)
  expect((await ana.get(`${issues}/2`)).body.state).toBe('opened')
})

test('not where a project has switched that off', async () => {
  await ana.put(`/projects/${project.id}`, { autoclose_referenced_issues: false })
  await commit(ana, 'Closes #2', 'main')
  expect((await ana.get(`/projects/${project.id}/issues/2`)).body.state).toBe('opened')
})
