import { expect, test } from 'vitest'
import { endJob } from '../../src/ci/pipelines/process/change-jobs.ts'
import { commitFiles } from '../support/fast-import.ts'
import { addMember, addProject } from '../support/project.ts'
import { openBench } from '../support/review.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

const block = async (user: Caller) =>
  expect((await world.root.post(`/users/${user.id}/block`)).status).toBe(201)

test('the trigger token of somebody who was blocked starts nothing', async () => {
  const bob = await world.user('bob')
  const project = await addProject(world, ana, 'basic', { path: 'triggered' })
  await addMember(world, project, bob, 40)
  commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: make}' } })
  const path = `/projects/${project.id}`
  const { token } = (await bob.post(`${path}/triggers`, { description: 'mine' })).body
  const run = () => world.nobody.post(`${path}/trigger/pipeline`, { token, ref: 'main' })
  expect((await run()).status).toBe(201)
  await block(bob)
  expect((await run()).status).toBe(404)
  await world.root.post(`/users/${bob.id}/unblock`)
  expect((await run()).status).toBe(201)
})

test('what somebody set to merge later does not merge after they were blocked', async () => {
  const carl = await world.user('carl', { admin: true })
  const bench = await openBench(world, ana)
  await ana.post(`/projects/${bench.project.id}/repository/commits`, {
    branch: 'topic',
    start_branch: 'main',
    commit_message: 'Try',
    actions: [{ action: 'create', file_path: '.svc-ci.yml', content: 'x: {script: make}' }],
  })
  await bench.open('topic')
  const set = await carl.put(`${bench.api}/1/merge`, { merge_when_pipeline_succeeds: true })
  expect(set.body).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true })
  await block(carl)
  const { head_pipeline: pipeline } = (await bench.read(1)).body
  const jobs = await ana.get(`/projects/${bench.project.id}/pipelines/${pipeline.id}/jobs`)
  for (const { id } of jobs.body) {
    await endJob(world.ctx, { id, pipeline_id: pipeline.id }, { status: 'success' })
  }
  const after = await bench.read(1)
  expect(after.body).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: false })
})

test('a job that starts pipelines elsewhere starts none once its user is gone', async () => {
  const dora = await world.user('dora')
  const secret = await addProject(world, ana, 'basic', { path: 'secret' })
  const project = await addProject(world, ana, 'basic', { path: 'reaching' })
  await addMember(world, project, dora, 30)
  commitFiles(secret, { files: { '.svc-ci.yml': 'deploy: {script: make}' } })
  commitFiles(project, {
    ref: 'refs/heads/topic',
    files: {
      '.svc-ci.yml': `
stages: [build, deploy]
first: {stage: build, script: make}
reach: {stage: deploy, trigger: ${secret.fullPath}}
`,
    },
  })
  const path = `/projects/${project.id}`
  const made = await dora.post(`${path}/pipeline`, { ref: 'topic' })
  expect(made.status).toBe(201)
  const pipeline = `${path}/pipelines/${made.body.id}`
  const [{ id }] = (await ana.get(`${pipeline}/jobs`)).body
  expect((await world.root.delete(`/users/${dora.id}`)).status).toBe(204)
  await world.runTasks()
  await endJob(world.ctx, { id, pipeline_id: made.body.id }, { status: 'success' })
  await world.runTasks()
  expect((await ana.get(`/projects/${secret.id}/pipelines`)).body).toEqual([])
  expect((await ana.get(`${pipeline}/bridges`)).body).toMatchObject([
    { name: 'reach', status: 'failed', failure_reason: 'insufficient_bridge_permissions' },
  ])
})
