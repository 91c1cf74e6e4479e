import { beforeEach, expect, test } from 'vitest'
import { planLimits } from '../../src/access/plan-limits.ts'
import { createGroup } from '../support/create.ts'
import { commitFiles } from '../support/fast-import.ts'
import { addProject, type TestProject } from '../support/project.ts'
import { addRunner } from '../support/runner.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let made = 0

beforeEach(() => limit(planLimits))

async function limit(values: Partial<Record<keyof typeof planLimits, number>>): Promise<void> {
  const reply = await world.root.put('/application/plan_limits', {
    plan_name: 'default',
    ...values,
  })
  expect(reply.status).toBe(200)
  expect(reply.body).toMatchObject(values)
}

async function projectWith(config: string): Promise<TestProject> {
  made += 1
  const project = await addProject(world, ana, 'basic', { path: `limited-${made}` })
  commitFiles(project, { files: { '.svc-ci.yml': config } })
  return project
}

const run = (project: TestProject) => ana.post(`/projects/${project.id}/pipeline`, { ref: 'main' })

const base = (text: string) => ({ message: { base: [text] } })

test('a pipeline of more jobs than the plan allows is refused, and lint says so before', async () => {
  const project = await projectWith('x: {script: make, parallel: 3}')
  await limit({ ci_pipeline_size: 3 })
  expect((await run(project)).status).toBe(201)
  await limit({ ci_pipeline_size: 2 })
  const fault =
    'The number of jobs has exceeded the limit of 2. Try splitting the configuration with parent-child-pipelines'
  const reply = await run(project)
  expect(reply.status).toBe(400)
  expect(reply.body).toEqual(base(fault))
  const lint = await ana.get(`/projects/${project.id}/ci/lint?dry_run=true`)
  expect(lint.body).toMatchObject({ valid: false, errors: [fault] })
})

test('a push whose pipeline is too large makes a failed one that says why', async () => {
  await limit({ ci_pipeline_size: 1 })
  const project = await projectWith('x: {script: make, parallel: 2}')
  const commit = await ana.post(`/projects/${project.id}/repository/commits`, {
    branch: 'main',
    commit_message: 'Push',
    actions: [{ action: 'create', file_path: 'pushed', content: 'x' }],
  })
  expect(commit.status).toBe(201)
  await world.runTasks()
  const [pipeline] = (await ana.get(`/projects/${project.id}/pipelines`)).body
  const whole = await ana.get(`/projects/${project.id}/pipelines/${pipeline.id}`)
  expect(whole.body).toMatchObject({
    status: 'failed',
    yaml_errors: expect.stringContaining('exceeded the limit of 1'),
  })
})

test('a job may need as many others as the plan allows, more than fifty too', async () => {
  const project = await projectWith(
    'a: {script: make, parallel: 60}\nb: {script: make, needs: [a]}',
  )
  const refused = await run(project)
  expect(refused.body).toEqual(
    base("b job: one job can only need 50 others, but you're trying to add 60"),
  )
  await limit({ ci_needs_size_limit: 60 })
  expect((await run(project)).status).toBe(201)
  await limit({ ci_needs_size_limit: 0 })
  expect((await run(project)).status).toBe(201)
})

test('unfinished jobs of a project count against its active jobs until they end', async () => {
  await limit({ ci_active_jobs: 3 })
  const project = await projectWith('x: {script: make, parallel: 2}')
  const first = await run(project)
  expect(first.status).toBe(201)
  const refused = await run(project)
  expect(refused.status).toBe(400)
  expect(refused.body).toEqual(base('Project exceeded the allowed number of active jobs: 3'))
  // Those of other projects do not count.
  expect((await run(await projectWith('x: {script: make, parallel: 2}'))).status).toBe(201)
  await ana.post(`/projects/${project.id}/pipelines/${first.body.id}/cancel`)
  expect((await run(project)).status).toBe(201)
})

test('schedules, instance variables and own runners are counted against the plan', async () => {
  const project = await projectWith('x: {script: make}')
  const group = await createGroup(ana, 'runs')
  await limit({
    ci_pipeline_schedules: 1,
    ci_instance_level_variables: 1,
    ci_registered_project_runners: 1,
    ci_registered_group_runners: 1,
  })
  const adds = [
    {
      add: (n: number) =>
        ana.post(`/projects/${project.id}/pipeline_schedules`, {
          description: `s${n}`,
          ref: 'main',
          cron: '0 1 * * *',
        }),
      fault: 'Maximum number of pipeline schedules (1) exceeded',
    },
    {
      add: (n: number) =>
        world.root.post('/admin/ci/variables', { key: `KEY_${n}`, value: 'some value' }),
      fault: 'Maximum number of CI/CD variables (1) exceeded',
    },
    {
      add: () => ana.post('/user/runners', { runner_type: 'project_type', project_id: project.id }),
      fault: 'Maximum number of ci registered project runners (1) exceeded',
    },
    {
      add: () => ana.post('/user/runners', { runner_type: 'group_type', group_id: group.id }),
      fault: 'Maximum number of ci registered group runners (1) exceeded',
    },
  ]
  for (const { add, fault } of adds) {
    expect((await add(1)).status).toBe(201)
    const second = await add(2)
    expect(second.status).toBe(400)
    expect(second.body).toEqual(base(fault))
  }
  await limit({ ci_registered_group_runners: 0 })
  expect((await adds[3]?.add(3))?.status).toBe(201)
})

test('a dotenv report beyond the plan is refused whole, not cut', async () => {
  const project = await projectWith('a: {stage: build, script: x}\nb: {script: y}')
  const runner = await addRunner(world, ana, project.id)
  await run(project)
  const given = await runner.request()
  if (!given) throw new Error('no job was given')
  const send = (text: string) =>
    runner.upload(
      given,
      Buffer.from(text),
      { artifact_type: 'dotenv', artifact_format: 'raw' },
      '.env',
    )
  await limit({ dotenv_size: 20 })
  const large = await send(`LONG=${'x'.repeat(16)}`)
  expect(large.status).toBe(400)
  expect(large.body.message).toContain('Dotenv Artifact Too Big. Maximum Allowable Size: 20')
  await limit({ dotenv_size: 0, dotenv_variables: 2 })
  const many = await send('A=1\nB=2\nC=3')
  expect(many.status).toBe(400)
  expect(many.body.message).toContain('Dotenv files cannot have more than 2 variables')
  expect((await send('A=1\nB=2')).status).toBe(201)
  await runner.finish(given, 'success')
  const next = await runner.request()
  const keys = next?.variables.map((one: { key: string }) => one.key) as string[]
  expect(keys.filter((key) => /^[ABC]$/.test(key)).sort()).toEqual(['A', 'B'])
})

test('a bridge fails where its pipelines together would be more than the plan allows', async () => {
  await limit({ pipeline_hierarchy_size: 2 })
  const down = await projectWith('x: {script: make}')
  const bridge = `{trigger: ${down.fullPath}}`
  const project = await projectWith(`one: ${bridge}\ntwo: ${bridge}`)
  const { id } = (await run(project)).body
  await world.runTasks()
  const { body } = await ana.get(`/projects/${project.id}/pipelines/${id}/bridges`)
  const outcomes = body.map((one: { status: string; downstream_pipeline: unknown }) => [
    one.status,
    one.downstream_pipeline === null,
  ])
  expect(outcomes.sort()).toEqual([
    ['failed', true],
    ['success', false],
  ])
  const failed = body.find((one: { status: string }) => one.status === 'failed')
  expect(failed.failure_reason).toBe('reached_max_pipeline_hierarchy_size')
})
