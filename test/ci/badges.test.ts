import { beforeAll, expect, test } from 'vitest'
import { addProject, type TestProject } from '../support/project.ts'
import { addRunner, type TestRunner } from '../support/runner.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const stranger = useCaller(world, 'stranger')
let project: TestProject
let runner: TestRunner

const config = `one:
  script: echo
  coverage: '/done (\\d+)%/'
`

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'badged', settings: {} })
  runner = await addRunner(world, ana, project.id)
  const made = await ana.post(`/projects/${project.id}/repository/commits`, {
    branch: 'topic/one',
    start_branch: 'main',
    commit_message: 'Add a job',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: config }],
  })
  expect(made.status).toBe(201)
  await world.runTasks()
})

function badge(name: string, by = ana, ref = 'topic/one') {
  return by.get(`/ana/badged/badges/${ref}/${name}`, { host: true })
}

test('a badge tells how the newest pipeline of a branch went, and its coverage', async () => {
  const waiting = await badge('pipeline.svg')
  expect(waiting.headers.get('content-type')).toContain('image/svg+xml')
  expect(waiting.body).toContain('pipeline: pending')
  expect((await badge('coverage.svg')).body).toContain('coverage: unknown')
  const job = await runner.request()
  if (!job) throw new Error('no job')
  await runner.finish(job, 'success', 'done 87%\n')
  await world.runTasks()
  expect((await badge('pipeline.svg')).body).toContain('pipeline: passed')
  expect((await badge('coverage.svg')).body).toContain('coverage: 87.00%')
  expect((await badge('coverage.svg?job=other')).body).toContain('unknown')
  expect((await badge('pipeline.svg', ana, 'nowhere')).body).toContain('unknown')
  const styled = '<b>"x"</b>'
  const { body } = await badge(
    `pipeline.svg?style=flat-square&key_text=${encodeURIComponent(styled)}`,
  )
  expect(body).not.toContain('<b>')
  expect((await badge('pipeline.svg?style=round')).status).toBe(400)
})

test('badges of a private project are shown to its members alone', async () => {
  const path = `/projects/${project.id}`
  await ana.put(path, { visibility: 'private' })
  expect((await badge('pipeline.svg')).status).toBe(200)
  expect((await badge('pipeline.svg', stranger)).status).toBe(404)
  expect((await badge('pipeline.svg', world.nobody)).status).toBe(404)
  await ana.put(path, { visibility: 'public', public_jobs: false })
  expect((await badge('pipeline.svg', world.nobody)).status).toBe(404)
  await ana.put(path, { public_jobs: true })
  expect((await badge('pipeline.svg', world.nobody)).status).toBe(200)
})
