import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { addRunner, type GivenJob } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

async function projectWith(path: string, config: string): Promise<TestProject> {
  const project = await addProject(world, ana, 'basic', { path })
  commitFiles(project, { files: { '.svc-ci.yml': config } })
  return project
}

async function run(project: TestProject, more: object = {}): Promise<number> {
  const reply = await ana.post(`/projects/${project.id}/pipeline`, { ref: 'main', ...more })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  await world.runTasks()
  return reply.body.id
}

function variablesOf(job: GivenJob | undefined): ReadonlyMap<string, string> {
  const sent = (job?.variables ?? []) as { key: string; value: string }[]
  return new Map(sent.map(({ key, value }) => [key, value]))
}

test('a bridge passes its variables on as they are where it runs', async () => {
  const down = await projectWith('down', 'x: {script: make}')
  commitFiles(down, { files: { '.svc-ci.yml': 'x: {script: make}' }, ref: 'refs/heads/stable' })
  const up = await projectWith(
    'up',
    `
variables: {NAME: down}
build: {stage: build, script: make, artifacts: {reports: {dotenv: build.env}}}
far:
  stage: deploy
  variables:
    FROM_SHA: $CI_COMMIT_SHA
    FROM_PIPELINE: $CI_PIPELINE_ID
    FROM_BUILD: version $VERSION
    FROM_PROJECT: $CI_PROJECT_PATH
    AS_WRITTEN: {value: $CI_PIPELINE_ID, expand: false}
  trigger: {project: ana/$NAME, branch: $TO}
`,
  )
  await ana.post(`/projects/${up.id}/variables`, { key: 'TO', value: 'stable' })
  const [upRunner, downRunner] = [
    await addRunner(world, ana, up.id),
    await addRunner(world, ana, down.id),
  ]
  const pipeline = await run(up)
  const build = await upRunner.request()
  if (!build) throw new Error('no job')
  const report = Buffer.from('VERSION=1.2\n')
  const query = { artifact_type: 'dotenv', artifact_format: 'raw' }
  expect((await upRunner.upload(build, report, query, 'build.env')).status).toBe(201)
  await upRunner.finish(build, 'success')
  await world.runTasks()
  const bridges = await ana.get(`/projects/${up.id}/pipelines/${pipeline}/bridges`)
  const [bridge] = bridges.body
  expect(bridge).toMatchObject({ status: 'success', downstream_pipeline: { ref: 'stable' } })
  expect(bridge).toMatchObject({ archived: false, tag_list: [] })
  const downstream = bridge.downstream_pipeline.id
  const given = await ana.get(`/projects/${down.id}/pipelines/${downstream}/variables`)
  const values = Object.fromEntries(
    given.body.map((one: { key: string; value: string }) => [one.key, one.value]),
  )
  expect(values).toMatchObject({
    FROM_SHA: up.git('rev-parse', 'main'),
    FROM_PIPELINE: String(pipeline),
    FROM_BUILD: 'version 1.2',
    FROM_PROJECT: 'ana/up',
    AS_WRITTEN: '$CI_PIPELINE_ID',
  })
  const raw = given.body.filter((one: { raw: boolean }) => one.raw)
  expect(raw).toMatchObject([{ key: 'AS_WRITTEN' }])
  const job = await downRunner.request()
  expect(job?.variables).toContainEqual(
    expect.objectContaining({ key: 'AS_WRITTEN', value: '$CI_PIPELINE_ID', raw: true }),
  )
  const sent = variablesOf(job)
  expect(sent.get('CI_PIPELINE_SOURCE')).toBe('pipeline')
  expect(sent.get('CI_UPSTREAM_PIPELINE_ID')).toBe(String(pipeline))
  expect(sent.get('CI_UPSTREAM_PROJECT_ID')).toBe(String(up.id))
  expect(sent.get('CI_UPSTREAM_JOB_ID')).toBe(String(bridge.id))
})

test('a variable that is not to be expanded stays so however far it is passed on', async () => {
  const last = await projectWith('last', 'x: {script: make}')
  const forward = '{forward: {pipeline_variables: true}, project: ana/last}'
  await projectWith('middle', `on: {trigger: ${forward}}`)
  const first = await projectWith(
    'first',
    'far: {variables: {A: {value: $CI_JOB_ID, expand: false}, B: b}, trigger: ana/middle}',
  )
  await run(first)
  const [pipeline] = (await ana.get(`/projects/${last.id}/pipelines`)).body
  const { body } = await ana.get(`/projects/${last.id}/pipelines/${pipeline.id}/variables`)
  expect(body).toEqual([
    { key: 'A', value: '$CI_JOB_ID', variable_type: 'env_var', raw: true },
    { key: 'B', value: 'b', variable_type: 'env_var', raw: false },
  ])
})

test('a bridge passes no content of a file in other variables, but the file where it is missing', async () => {
  await projectWith('reading', 'x: {script: make}')
  const config = `
far: {variables: {OPTS: "-s $SETTINGS", TWO: "$OPTS $MORE", PRICE: "5$$"}, trigger: ana/reading}
child: {variables: {OPTS: "-s $SETTINGS"}, trigger: {include: child.yml}}
`
  const up = await projectWith('settings', config)
  commitFiles(up, { files: { '.svc-ci.yml': config, 'child.yml': 'y: {script: make}' } })
  const file = { key: 'SETTINGS', value: 'a secret file', variable_type: 'file' }
  await ana.post(`/projects/${up.id}/variables`, file)
  const pipeline = await run(up)
  const { body: bridges } = await ana.get(`/projects/${up.id}/pipelines/${pipeline}/bridges`)
  const given = async (name: string) => {
    const { downstream_pipeline: made } = bridges.find((one: { name: string }) => one.name === name)
    const at = `/projects/${made.project_id}/pipelines/${made.id}/variables`
    return (await ana.get(at)).body.map(
      (one: { key: string; value: string; variable_type: string }) =>
        `${one.variable_type} ${one.key}=${one.value}`,
    )
  }
  expect(await given('child')).toEqual(['env_var OPTS=-s $SETTINGS'])
  expect((await given('far')).sort()).toEqual([
    'env_var OPTS=-s $SETTINGS',
    'env_var PRICE=5$$',
    'env_var TWO=-s $SETTINGS $MORE',
    'file SETTINGS=a secret file',
  ])
})

test('a bridge whose project no variable names fails, and says why', async () => {
  const up = await projectWith('lost', 'far: {trigger: {project: $NOWHERE/x}}')
  const pipeline = await run(up)
  const { body } = await ana.get(`/projects/${up.id}/pipelines/${pipeline}/bridges`)
  expect(body).toMatchObject([
    { status: 'failed', failure_reason: 'downstream_bridge_project_not_found' },
  ])
})

test('a bridge starts what the variables of the run name, before those of its file', async () => {
  await projectWith('named-by-file', 'x: {script: make}')
  const down = await projectWith('named-by-run', 'x: {script: make}')
  const up = await projectWith('naming', 'variables: {TO: file}\nfar: {trigger: ana/named-by-$TO}')
  const pipeline = await run(up, { variables: [{ key: 'TO', value: 'run' }] })
  const { body } = await ana.get(`/projects/${up.id}/pipelines/${pipeline}/bridges`)
  expect(body[0].downstream_pipeline).toMatchObject({ project_id: down.id })
})

test('a bridge gives variables to another project only where its user may, and to a child always', async () => {
  const down = await projectWith('strict', 'x: {script: make}')
  const config = `
with: {variables: {A: b}, trigger: {project: ${down.fullPath}}}
without: {trigger: ${down.fullPath}}
child: {variables: {A: b}, trigger: {include: child.yml}}
`
  const up = await projectWith('giving', config)
  commitFiles(up, { files: { '.svc-ci.yml': config, 'child.yml': 'y: {script: make}' } })
  const restricted = { ci_pipeline_variables_minimum_override_role: 'no_one_allowed' }
  for (const { id } of [up, down]) {
    expect((await ana.put(`/projects/${id}`, restricted)).status).toBe(200)
  }
  const pipeline = await run(up)
  const { body } = await ana.get(`/projects/${up.id}/pipelines/${pipeline}/bridges`)
  const outcomes = body.map((one: { name: string; status: string; failure_reason?: string }) => [
    one.name,
    one.status,
    one.failure_reason,
  ])
  expect(new Set(outcomes)).toEqual(
    new Set([
      ['with', 'failed', 'downstream_pipeline_creation_failed'],
      ['without', 'success', undefined],
      ['child', 'success', undefined],
    ]),
  )
})

test('rules of a downstream pipeline know where it comes from', async () => {
  const down = await projectWith(
    'knowing',
    'x: {script: make, rules: [{if: $CI_UPSTREAM_PROJECT_ID == $WANTED}]}\ny: {script: make}',
  )
  const up = await projectWith('asking', `far: {trigger: ${down.fullPath}}`)
  await ana.post(`/projects/${down.id}/variables`, { key: 'WANTED', value: String(up.id) })
  await run(up)
  const jobs = await ana.get(`/projects/${down.id}/jobs`)
  expect(jobs.body.map((job: { name: string }) => job.name).sort()).toEqual(['x', 'y'])
})

test("a job gets the deploy token that is there for jobs, its project's before its group's", async () => {
  const group = await createGroup(ana, 'deploying')
  const project = await projectWith('deployed', 'x: {script: make}')
  const moved = await ana.put(`/projects/${project.id}/transfer`, { namespace: group.id })
  expect(moved.status).toBe(200)
  const at = `/projects/${project.id}`
  const runner = await addRunner(world, ana, project.id)
  const given = async () => {
    await run(project)
    const job = await runner.request()
    const sent = (job?.variables ?? []) as { key: string; value: string; masked: boolean }[]
    return sent.filter(({ key }) => key.startsWith('CI_DEPLOY_'))
  }
  const add = async (place: string, name: string, more: object = {}) => {
    const made = await ana.post(`${place}/deploy_tokens`, {
      name,
      scopes: ['read_repository'],
      ...more,
    })
    expect(made.status).toBe(201)
    return made.body
  }
  const isToken = ({ username, token }: { readonly username: string; readonly token: string }) => [
    expect.objectContaining({ key: 'CI_DEPLOY_USER', value: username, masked: false }),
    expect.objectContaining({ key: 'CI_DEPLOY_PASSWORD', value: token, masked: true }),
  ]
  await add(at, 'another')
  expect(await given()).toEqual([])
  const ofGroup = await add(`/groups/${group.id}`, 'svc-deploy-token')
  expect(await given()).toEqual(isToken(ofGroup))
  const own = await add(at, 'svc-deploy-token', { username: 'deployer' })
  expect(await given()).toEqual(isToken(own))
  await ana.delete(`${at}/deploy_tokens/${own.id}`)
  await add(at, 'svc-deploy-token', { expires_at: '2026-05-05T00:00:00.000Z' })
  world.setNow('2026-05-06T10:00:00.000Z')
  expect(await given()).toEqual(isToken(ofGroup))
  const { rows } = await sql<{ name: string; kept: number }>`
    SELECT name, sealed_secret IS NOT NULL AS kept FROM deploy_tokens ORDER BY id`.execute(
    world.ctx.db,
  )
  expect(rows.filter(({ name }) => name === 'another')).toEqual([{ name: 'another', kept: 0 }])
  world.setNow('2026-05-04T10:00:00.000Z')
})

test('a job gets its registry, its runner, its configuration and the message of its tag', async () => {
  const project = await projectWith('Known', 'x: {script: make}')
  await ana.post(`${project.api}/tags`, { tag_name: 'v1', ref: 'main', message: 'First\n\nOne' })
  await world.runTasks()
  const runner = await addRunner(world, ana, project.id, { description: 'big one' })
  const { host } = new URL(world.ctx.config.externalUrl)
  const job = await runner.request()
  const sent = variablesOf(job)
  expect(Object.fromEntries(sent)).toMatchObject({
    CI_COMMIT_TAG: 'v1',
    CI_COMMIT_TAG_MESSAGE: 'First\n\nOne',
    CI_REGISTRY: host,
    CI_REGISTRY_IMAGE: `${host}/ana/known`,
    CI_REGISTRY_USER: 'svc-ci-token',
    CI_REGISTRY_PASSWORD: job?.token,
    CI_RUNNER_DESCRIPTION: 'big one',
    CI_CONFIG_PATH: '.svc-ci.yml',
    CI_PROJECT_CLASSIFICATION_LABEL: '',
  })
  await ana.put(`/projects/${project.id}`, { container_registry_access_level: 'disabled' })
  await run(project)
  expect(variablesOf(await runner.request()).has('CI_REGISTRY_IMAGE')).toBe(false)
})
