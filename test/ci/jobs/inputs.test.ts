import { beforeAll, describe, expect, test } from 'vitest'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner, type GivenJob, type TestRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let runner: TestRunner
let path: string

const config = `
build: {stage: build, script: make}
ship:
  stage: deploy
  when: manual
  inputs:
    where: {default: staging, options: [staging, production], description: Where to}
    tries: {type: number, default: 2}
    dry: {type: boolean, default: true}
    hosts: {type: array, default: [a, b]}
    version: {default: v1.0, regex: '^v\\d'}
  image: 'tool:\${{ job.inputs.version }}'
  script:
    - ship \${{job.inputs.where}} \${{ job.inputs.tries }} \${{ job.inputs.dry }}
    - 'echo \${{ job.inputs.hosts }} \${{ other.thing }} $HOME'
  artifacts: {name: 'to-\${{ job.inputs.where }}', paths: ['\${{ job.inputs.where }}/*']}
plain:
  stage: deploy
  when: manual
  retry: 1
  script: ['echo \${{ job.inputs.where }} $WHERE']
`.replaceAll('\\$', '$')

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'inputs', visibility: 'public' })
  await addMember(world, project, dev, 30)
  commitFiles(project, { files: { '.svc-ci.yml': config } })
  runner = await addRunner(world, ana, project.id)
  path = `/projects/${project.id}`
})

async function next(): Promise<GivenJob> {
  const job = await runner.request()
  if (!job) throw new Error('no job')
  return job
}

/** The address of a job of a new pipeline that waits for somebody. */
async function waiting(name: string): Promise<string> {
  const made = await dev.post(`${path}/pipeline`, { ref: 'main' })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  await runner.finish(await next(), 'success')
  const { body } = await dev.get(`${path}/pipelines/${made.body.id}/jobs`)
  return `${path}/jobs/${body.find((job: { name: string }) => job.name === name).id}`
}

const scriptOf = (job: GivenJob): string[] => job.steps[0].script
const variableOf = (job: GivenJob, key: string): string | undefined =>
  job.variables.find((one: { key: string }) => one.key === key)?.value

describe('the inputs of a job', () => {
  test('are filled in with their defaults wherever the job names them', async () => {
    const at = await waiting('ship')
    expect((await dev.post(`${at}/play`)).status).toBe(200)
    const job = await next()
    expect(scriptOf(job)).toEqual([
      'ship staging 2 true',
      `echo ["a","b"] \${{ other.thing }} $HOME`,
    ])
    expect(job.image.name).toBe('tool:v1.0')
    expect(job.artifacts[0]).toMatchObject({ name: 'to-staging', paths: ['staging/*'] })
    await runner.finish(job, 'success')
  })

  test('take what is given when it is played, and keep it when it is run again', async () => {
    const at = await waiting('ship')
    const given = { where: 'production', tries: 5, dry: false, hosts: ['c'], version: 'v2' }
    const played = await dev.post(`${at}/play`, { job_inputs: given })
    expect([played.status, played.body.status]).toEqual([200, 'pending'])
    const first = await next()
    expect(scriptOf(first)[0]).toBe('ship production 5 false')
    expect(scriptOf(first)[1]).toContain('["c"]')
    expect(first.image.name).toBe('tool:v2')
    await runner.finish(first, 'failed')
    const again = await dev.post(`${at}/retry`)
    expect(again.status).toBe(201)
    const second = await next()
    expect(scriptOf(second)[0]).toBe('ship production 5 false')
    await runner.finish(second, 'failed')
    const changed = { job_inputs: { where: 'staging' } }
    expect((await dev.post(`${path}/jobs/${again.body.id}/retry`, changed)).status).toBe(201)
    const third = await next()
    expect(scriptOf(third)[0]).toBe('ship staging 5 false')
    await runner.finish(third, 'success')
  })

  test.each([
    [{ where: 'elsewhere' }, 'not in the list of allowed options'],
    [{ where: null }, ''],
    [{ tries: '5' }, 'provided value is not a number'],
    [{ dry: 'yes' }, 'provided value is not a boolean'],
    [{ hosts: 'a' }, 'provided value is not a array'],
    [{ version: 'latest' }, 'does not match required RegEx'],
    [{ nothing: 1 }, 'unknown job input: nothing'],
  ])('refuse %j', async (job_inputs, said) => {
    const at = await waiting('ship')
    const reply = await dev.post(`${at}/play`, { job_inputs })
    if (said === '') {
      expect(reply.status).toBe(200)
      await runner.finish(await next(), 'success')
      return
    }
    expect([reply.status, JSON.stringify(reply.body)]).toEqual([400, expect.stringContaining(said)])
    expect((await dev.get(at)).body.status).toBe('manual')
  })

  test('are no list and no text', async () => {
    const at = await waiting('ship')
    for (const job_inputs of [['where'], 'where']) {
      const reply = await dev.post(`${at}/play`, { job_inputs })
      expect([reply.status, reply.body]).toEqual([400, { error: 'job_inputs is invalid' }])
    }
  })

  test('are left alone in a job that has none', async () => {
    const at = await waiting('plain')
    const refused = await dev.post(`${at}/play`, { job_inputs: { where: 'x' } })
    expect(refused.status).toBe(400)
    await dev.post(`${at}/play`)
    const job = await next()
    expect(scriptOf(job)).toEqual([`echo \${{ job.inputs.where }} $WHERE`])
    await runner.finish(job, 'success')
  })
})

test.each([
  [
    'no default',
    'inputs: {a: {type: string}}, script: x',
    'jobs:one:inputs:a default must be provided',
  ],
  [
    'a default of another type',
    'inputs: {a: {type: number, default: x}}, script: x',
    'provided value is not a number',
  ],
  ['an unknown key', 'inputs: {a: {default: x, rules: []}}, script: x', 'unknown keys: rules'],
  ['an unknown type', 'inputs: {a: {type: map, default: x}}, script: x', 'unknown type map'],
  ['no map', 'inputs: [a], script: x', 'jobs:one:inputs config should be a hash'],
  [
    'another name than it has',
    `inputs: {a: {default: x}}, script: 'x \${{ job.inputs.b }}'`,
    'unknown job input: `b`',
  ],
])('a configuration of a job input with %s is refused', async (_, job, said) => {
  const { body } = await dev.post(`${path}/ci/lint`, { content: `one: {${job}}\n` })
  expect([body.valid, body.errors.join()]).toEqual([false, expect.stringContaining(said)])
})

test('variables that a job was played with are there when it runs again', async () => {
  const at = await waiting('plain')
  const variables = { job_variables_attributes: [{ key: 'WHERE', value: 'north' }] }
  expect((await ana.post(`${at}/play`, variables)).status).toBe(200)
  // Once by itself, as its configuration allows, and once more by hand.
  for (const _ of [1, 2]) {
    const job = await next()
    expect(variableOf(job, 'WHERE')).toBe('north')
    await runner.finish(job, 'failed')
  }
  const { body } = await dev.get(`${path}/jobs?scope=failed`)
  expect((await dev.post(`${path}/jobs/${body[0].id}/retry`)).status).toBe(201)
  const last = await next()
  expect(variableOf(last, 'WHERE')).toBe('north')
  await runner.finish(last, 'success')
})
