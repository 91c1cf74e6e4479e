import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { endJob } from '../../../src/ci/pipelines/process/change-jobs.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const world = useWorld({ outboundAllow: ['127.0.0.1'] })
const ana = useCaller(world, 'ana')
let project: TestProject
let receiver: Receiver
let at: string
let hookId: number

beforeAll(async () => {
  receiver = await openReceiver()
  project = await addProject(world, ana, 'basic')
  at = `/projects/${project.id}`
  const made = await ana.post(`${at}/hooks`, {
    url: `${receiver.url}/in`,
    push_events: false,
    deployment_events: true,
    feature_flag_events: true,
  })
  hookId = made.body.id
})
afterAll(() => receiver.close())
afterEach(() => {
  receiver.received.length = 0
})

async function newDeliveries() {
  await world.runTasks()
  return receiver.received.map(({ headers, body }) => {
    const [event] = world.ctx.config.vendor.headerNames('Event')
    return { header: headers[(event ?? '').toLowerCase()], ...body }
  })
}

test('hooks are called for deployments that begin and end', async () => {
  const sha = project.git('rev-parse', 'main')
  const deployment = { environment: 'production', sha, ref: 'main', tag: false }
  const { body } = await ana.post(`${at}/deployments`, { ...deployment, status: 'running' })
  // The status is that of the moment, however late it is sent.
  await ana.put(`${at}/deployments/${body.id}`, { status: 'success' })
  await ana.put(`${at}/deployments/${body.id}`, { status: 'success' })
  // Both are sent at the same moment.
  const sent = (await newDeliveries()).sort((a, b) => (a.status < b.status ? -1 : 1))
  expect(sent.map((one) => one.status)).toEqual(['running', 'success'])
  const web = `${world.app.config.externalUrl}/${project.fullPath}`
  expect(sent[1]).toMatchObject({
    header: 'Deployment Hook',
    object_kind: 'deployment',
    status: 'success',
    status_changed_at: '2026-05-04T10:00:00.000Z',
    deployment_id: body.id,
    deployable_id: null,
    deployable_url: null,
    environment: 'production',
    environment_tier: 'production',
    environment_slug: 'production',
    environment_external_url: null,
    project: { path_with_namespace: project.fullPath },
    ref: 'main',
    short_sha: sha.slice(0, 8),
    user: { username: 'ana' },
    commit_url: `${web}/-/commit/${sha}`,
    commit_title: project.git('log', '-1', '--format=%s', 'main'),
  })
})

test('hooks are called for deployments that jobs make', async () => {
  const config = 'ship:\n  script: make\n  environment: {name: staging, deployment_tier: staging}\n'
  const [file_path = ''] = world.ctx.config.vendor.ciFiles
  const action = { action: 'create', file_path, content: config }
  const commit = { branch: 'main', commit_message: 'Ship', actions: [action] }
  expect((await ana.post(`${at}/repository/commits`, commit)).status).toBe(201)
  await world.runTasks()
  const { body: jobs } = await ana.get(`${at}/jobs`)
  const [job] = jobs
  const named = { id: job.id, pipeline_id: job.pipeline.id }
  await endJob(world.ctx, named, { status: 'failed', reason: 'script_failure' })
  expect(await newDeliveries()).toMatchObject([
    {
      status: 'failed',
      environment: 'staging',
      environment_tier: 'staging',
      deployable_id: job.id,
      commit_title: 'Ship',
    },
  ])
})

test('hooks are called for feature flags that are switched', async () => {
  const flags = `${at}/feature_flags`
  const made = await ana.post(flags, { name: 'new-look', version: 'new_version_flag' })
  expect(made.status).toBe(201)
  await ana.put(`${flags}/new-look`, { description: 'Try it' })
  await ana.put(`${flags}/new-look`, { active: false })
  await ana.put(`${flags}/new-look`, { active: true })
  // Deliveries go out side by side, in no certain order.
  const sent = await newDeliveries()
  expect(sent.map((one) => one.object_attributes.active).sort()).toEqual([false, true])
  expect(sent.find((one) => !one.object_attributes.active)).toMatchObject({
    header: 'Feature Flag Hook',
    object_kind: 'feature_flag',
    project: { id: project.id },
    user: { username: 'ana' },
    object_attributes: { name: 'new-look', description: 'Try it', active: false },
  })
})

test('both can be tried out on what the project holds', async () => {
  for (const [trigger, kind] of [
    ['deployment_events', 'deployment'],
    ['feature_flag_events', 'feature_flag'],
  ]) {
    const reply = await ana.post(`${at}/hooks/${hookId}/test/${trigger}`)
    expect([reply.status, reply.body]).toEqual([201, { message: '201 Created' }])
    expect(receiver.received.at(-1)?.body.object_kind).toBe(kind)
  }
  const { body: log } = await ana.get(`${at}/hooks/${hookId}/events?status=successful`)
  expect(log[0]).toMatchObject({ trigger: 'feature_flag_events', response_status: '200' })
})
