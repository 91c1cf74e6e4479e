import { beforeAll, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let project: TestProject

beforeAll(async () => {
  project = await addProject(world, ana, 'submodules')
})

const input = { branch: 'main', commit_sha: '3'.repeat(40) }

test('a submodule is pointed at another commit', async () => {
  const reply = await ana.put(`${project.api}/submodules/lib`, input)
  expect(reply.status).toBe(200)
  expect(reply.body.title).toBe(`Update submodule lib with oid ${'3'.repeat(40)}`)
  expect(project.git('ls-tree', 'main', 'lib')).toBe(`160000 commit ${'3'.repeat(40)}\tlib`)
  project.git('fsck', '--strict')
})

test.each([
  ['lib', { ...input, commit_sha: '3'.repeat(40) }, 400],
  ['a.txt', { ...input, commit_sha: '4'.repeat(40) }, 400],
  ['none', { ...input, commit_sha: '4'.repeat(40) }, 400],
  ['lib', { ...input, commit_sha: 'main' }, 400],
  ['lib', { branch: 'main' }, 400],
])('%s with %j is refused', async (path, body, status) => {
  const before = project.git('rev-parse', 'main')
  const reply = await ana.put(`${project.api}/submodules/${path}`, body)
  expect(reply.status).toBe(status)
  expect(project.git('rev-parse', 'main')).toBe(before)
})

test('it takes the right to push', async () => {
  const ben = await world.user('ben')
  await addMember(world, project, ben, 20)
  const reply = await ben.put(`${project.api}/submodules/lib`, input)
  expect(reply.status).toBe(403)
})
