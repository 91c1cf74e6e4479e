import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner, type GivenJob, type TestRunner } from '../../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mona = useCaller(world, 'mona')
const dev = useCaller(world, 'dev')
let project: TestProject
let runner: TestRunner
let group: { id: number }
let subgroup: { id: number }
const paths = new Map<string, string>()
let ofProject: string

beforeAll(async () => {
  group = await createGroup(ana, 'team')
  subgroup = await createGroup(ana, 'sub', { parent_id: group.id })
  project = await addProject(world, ana, 'basic', { path: 'vars' })
  await ana.put(`/projects/${project.id}/transfer`, { namespace: subgroup.id })
  await addMember(world, project, mona, 40)
  await addMember(world, project, dev, 30)
  commitFiles(project, {
    files: {
      '.svc-ci.yml':
        'plain: {script: make}\nlive: {script: make, environment: production/eu, needs: []}',
    },
  })
  runner = await addRunner(world, ana, project.id)
  ofProject = `/projects/${project.id}/variables`
  paths.set('project', ofProject)
  paths.set('group', `/groups/${group.id}/variables`)
  paths.set('instance', '/admin/ci/variables')
})

function at(place: string): { path: string; by: Caller } {
  return { path: paths.get(place) ?? '', by: place === 'instance' ? world.root : ana }
}

interface Sent {
  readonly key: string
  readonly value: string
}

/** The jobs of a new pipeline as a runner gets them, by name; all are ended. */
async function jobsOfRun(): Promise<ReadonlyMap<string, GivenJob>> {
  const made = await ana.post(`/projects/${project.id}/pipeline`, { ref: 'main' })
  expect(made.status).toBe(201)
  const found = new Map<string, GivenJob>()
  for (let job = await runner.request(); job; job = await runner.request()) {
    found.set(job.job_info.name, job)
    await runner.finish(job, 'success')
  }
  return found
}

function sentTo(job: GivenJob | undefined, key: string) {
  return (job?.variables as Sent[] | undefined)?.find((one) => one.key === key)
}

describe.each(['project', 'group', 'instance'])('a variable of the %s', (place) => {
  const key = `OF_${place.toUpperCase()}`
  const scoped = place !== 'instance'

  test('keeps each attribute that it is made with, and each that is changed', async () => {
    const { path, by } = at(place)
    const first = {
      key,
      value: 'first-value',
      variable_type: 'file',
      protected: true,
      masked: true,
      raw: true,
      description: 'what it is for',
      ...(scoped ? { environment_scope: 'production/*' } : {}),
    }
    const made = await by.post(path, first)
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject(first)
    expect((await by.get(`${path}/${key}`)).body).toEqual(made.body)
    const changes: object[] = [
      { value: 'second-value' },
      { variable_type: 'env_var' },
      { protected: false },
      { masked: false },
      { raw: false },
      { description: 'something else' },
      { description: null },
      ...(scoped ? [{ environment_scope: '*' }] : []),
    ]
    let expected = made.body
    for (const change of changes) {
      expected = { ...expected, ...change }
      const changed = await by.put(`${path}/${key}`, change)
      expect(changed.status).toBe(200)
      expect(changed.body).toEqual(expected)
    }
    expect((await by.get(`${path}/${key}`)).body).toEqual(expected)
    expect((await by.delete(`${path}/${key}`)).status).toBe(204)
    expect((await by.get(`${path}/${key}`)).status).toBe(404)
    expect((await by.delete(`${path}/${key}`)).status).toBe(404)
    expect((await by.put(`${path}/${key}`, { value: 'x' })).status).toBe(404)
  })

  test('is refused with a key, type, description, value or scope that is not valid', async () => {
    const { path, by } = at(place)
    const refused = async (body: object) => {
      const reply = await by.post(path, { key, value: 'x', ...body })
      expect(reply.status).toBe(400)
      return reply.body
    }
    expect(await refused({ key: 'x'.repeat(256) })).toEqual({
      message: { key: ["can contain only letters, digits and '_'."] },
    })
    expect(await refused({ variable_type: 'secret' })).toEqual({
      error: 'variable_type does not have a valid value',
    })
    expect(await refused({ description: 'd'.repeat(256) })).toEqual({
      message: { description: ['is too long (maximum is 255 characters)'] },
    })
    expect(await refused({ masked: true, value: 'seven77' })).toEqual({
      message: { value: ['is invalid'] },
    })
    if (scoped) {
      const { message } = await refused({ environment_scope: 'a?b' })
      expect(message.environment_scope[0]).toContain('can contain only letters')
    }
    expect((await by.get(`${path}/${key}`)).status).toBe(404)
  })

  test('takes no value that a log cannot mask while it is masked', async () => {
    const { path, by } = at(place)
    await by.post(path, { key, value: 'long-enough', masked: true })
    const short = await by.put(`${path}/${key}`, { value: 'short' })
    expect([short.status, short.body]).toEqual([400, { message: { value: ['is invalid'] } }])
    expect((await by.get(`${path}/${key}`)).body.value).toBe('long-enough')
    expect((await by.put(`${path}/${key}`, { value: 'short', masked: false })).status).toBe(200)
    expect((await by.put(`${path}/${key}`, { masked: true })).status).toBe(400)
    await by.delete(`${path}/${key}`)
  })

  test('is listed in pages, in the order in which they were made', async () => {
    const { path, by } = at(place)
    for (const name of ['PAGE_C', 'PAGE_A', 'PAGE_B'])
      await by.post(path, { key: name, value: 'x' })
    const names = async (query: string) =>
      ((await by.get(`${path}?${query}`)).body as Sent[]).map((one) => one.key)
    const all = await names('per_page=100')
    const made = ['PAGE_C', 'PAGE_A', 'PAGE_B']
    expect(all.filter((name) => made.includes(name))).toEqual(made)
    const pages = [await names('per_page=2&page=1'), await names('per_page=2&page=2')].flat()
    expect(pages).toEqual(all.slice(0, pages.length))
    const { headers } = await by.get(`${path}?per_page=2`)
    expect(headers.get('x-total')).toBe(String(all.length))
    for (const name of ['PAGE_A', 'PAGE_B', 'PAGE_C']) await by.delete(`${path}/${name}`)
  })
})

test('a job gets the value of the nearest place that has the variable', async () => {
  const places = ['instance', 'group', 'subgroup', 'project']
  paths.set('subgroup', `/groups/${subgroup.id}/variables`)
  for (const place of places) {
    const { path, by } = at(place)
    expect((await by.post(path, { key: 'NEAREST', value: place })).status).toBe(201)
  }
  for (const place of [...places].reverse()) {
    expect(sentTo((await jobsOfRun()).get('plain'), 'NEAREST')?.value).toBe(place)
    const { path, by } = at(place)
    await by.delete(`${path}/NEAREST`)
  }
  expect(sentTo((await jobsOfRun()).get('plain'), 'NEAREST')).toBeUndefined()
})

test('a job gets the value with the closest environment scope, also of a group', async () => {
  const { path } = at('group')
  for (const environment_scope of ['*', 'production/*', 'production/eu', 'staging']) {
    const body = { key: 'SCOPED', value: environment_scope, environment_scope }
    expect((await ana.post(path, body)).status).toBe(201)
  }
  const both = await ana.put(`${path}/SCOPED`, {
    environment_scope: '*',
    filter: { environment_scope: 'staging' },
  })
  expect([both.status, both.body]).toEqual([
    400,
    { message: { key: ['(SCOPED) has already been taken'] } },
  ])
  const scopes = ['production/eu', 'production/*', '*']
  for (const scope of scopes) {
    const jobs = await jobsOfRun()
    expect(sentTo(jobs.get('live'), 'SCOPED')?.value).toBe(scope)
    const rest = sentTo(jobs.get('plain'), 'SCOPED')?.value
    expect(rest).toBe('*')
    const filter = `filter[environment_scope]=${encodeURIComponent(scope)}`
    expect((await ana.delete(`${path}/SCOPED?${filter}`)).status).toBe(204)
  }
  expect(sentTo((await jobsOfRun()).get('live'), 'SCOPED')).toBeUndefined()
  await ana.delete(`${path}/SCOPED`)
})

test('a job gets the value as the attributes say, and its log does not show masked values', async () => {
  const { path } = at('project')
  await ana.post(path, { key: 'AS_FILE', value: 'a\nb', variable_type: 'file' })
  await ana.post(path, { key: 'AS_WRITTEN', value: '$CI_JOB_NAME', raw: true })
  await ana.post(path, { key: 'MASKED', value: 'hide-this-value', masked: true })
  await ana.post(`/projects/${project.id}/pipeline`, { ref: 'main' })
  const job = await runner.request()
  if (!job) throw new Error('no job')
  expect(sentTo(job, 'AS_FILE')).toMatchObject({ value: 'a\nb', file: true })
  expect(sentTo(job, 'AS_WRITTEN')).toMatchObject({ value: '$CI_JOB_NAME', raw: true })
  expect(sentTo(job, 'MASKED')).toMatchObject({ masked: true, public: false })
  await runner.finish(job, 'success', 'it is hide-this-value, is it\n')
  const trace = await ana.get(`/projects/${project.id}/jobs/${job.id}/trace`)
  expect(trace.body).not.toContain('hide-this-value')
  expect(trace.body).toContain('is it')
  const other = await runner.request()
  if (other) await runner.finish(other, 'success')
  for (const key of ['AS_FILE', 'AS_WRITTEN', 'MASKED']) await ana.delete(`${path}/${key}`)
})

test('variables of a group are for its Owners, those of the instance for administrators', async () => {
  const { path } = at('group')
  await ana.post(path, { key: 'KEPT', value: 'x' })
  const level = { user_id: mona.id, access_level: 40 }
  await ana.post(`/groups/${group.id}/members`, level)
  expect((await mona.get(path)).status).toBe(403)
  expect((await mona.get(`${path}/KEPT`)).status).toBe(403)
  expect((await mona.put(`${path}/KEPT`, { value: 'y' })).status).toBe(403)
  expect((await mona.delete(`${path}/KEPT`)).status).toBe(403)
  expect((await mona.post(at('project').path, { key: 'MINE', value: 'x' })).status).toBe(201)
  expect((await ana.get('/admin/ci/variables')).status).toBe(403)
  expect((await world.nobody.get('/admin/ci/variables')).status).toBe(401)
  expect((await ana.get(`${path}/KEPT`)).body.value).toBe('x')
})

test('the variables of a project are deleted with it', async () => {
  const { id } = await createProject(ana, 'short-lived')
  await ana.post(`/projects/${id}/variables`, { key: 'GONE', value: 'x' })
  await ana.delete(`/projects/${id}`)
  await world.runTasks()
  world.setNow('2026-08-04T10:00:00.000Z')
  await world.runTasks()
  world.setNow('2026-05-04T10:00:00.000Z')
  const left = await world.ctx.db
    .selectFrom('ci_variables')
    .select('key')
    .where('key', '=', 'GONE')
    .execute()
  expect(left).toEqual([])
})

describe('variables', () => {
  test('are added, read, changed and removed, and are sealed in the database', async () => {
    const made = await ana.post(ofProject, {
      key: 'TOKEN',
      value: 'very-secret-value',
      masked: true,
    })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      key: 'TOKEN',
      value: 'very-secret-value',
      variable_type: 'env_var',
      hidden: false,
      protected: false,
      masked: true,
      raw: false,
      environment_scope: '*',
      description: null,
    })
    const stored = await world.ctx.db.selectFrom('ci_variables').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain('very-secret-value')
    const changed = await ana.put(`${ofProject}/TOKEN`, {
      protected: true,
      description: 'for the mirror',
    })
    expect(changed.body).toMatchObject({
      protected: true,
      description: 'for the mirror',
      value: 'very-secret-value',
    })
    expect((await dev.get(`${ofProject}/TOKEN`)).status).toBe(403)
    expect((await ana.delete(`${ofProject}/TOKEN`)).status).toBe(204)
    expect((await ana.get(`${ofProject}/TOKEN`)).body).toEqual({
      message: '404 Variable Not Found',
    })
  })

  test('that are hidden are never shown again, nor made visible', async () => {
    const made = await ana.post(ofProject, {
      key: 'HIDE',
      value: 'abcdefgh',
      masked_and_hidden: true,
    })
    expect(made.body).toMatchObject({ value: null, hidden: true, masked: true })
    expect((await ana.put(`${ofProject}/HIDE`, { masked: false })).status).toBe(400)
    const described = await ana.put(`${ofProject}/HIDE`, { description: 'kept' })
    expect(described.body).toMatchObject({ value: null, description: 'kept' })
  })

  test.each([
    ['short', { masked: true }, { value: ['is invalid'] }],
    ['with a space', { masked: true }, { value: ['is invalid'] }],
    ['two\nlines-are-long', { masked: true, raw: true }, { value: ['is invalid'] }],
    ['$not_in_alphabet', { masked: true }, { value: ['is invalid'] }],
    ['x'.repeat(10_001), {}, { value: ['is too long (maximum is 10000 characters)'] }],
  ])('whose value may not be %j are refused', async (value, more, message) => {
    expect((await ana.post(ofProject, { key: 'BAD', value, ...more })).body).toEqual({ message })
  })

  test('with an invalid key, or one that is there already, are refused', async () => {
    const bad = await ana.post(ofProject, { key: 'a-b', value: 'x' })
    expect(bad.body.message.key).toEqual(["can contain only letters, digits and '_'."])
    await ana.post(ofProject, { key: 'TWICE', value: 'x' })
    expect((await ana.post(ofProject, { key: 'TWICE', value: 'y' })).body).toEqual({
      message: { key: ['(TWICE) has already been taken'] },
    })
  })

  test('with one key and several scopes are selected by the filter', async () => {
    await ana.post(ofProject, { key: 'URL', value: 'one', environment_scope: 'production' })
    await ana.post(ofProject, { key: 'URL', value: 'two', environment_scope: 'review/*' })
    expect((await ana.get(`${ofProject}/URL`)).status).toBe(409)
    const filter = `filter[environment_scope]=${encodeURIComponent('review/*')}`
    expect((await ana.get(`${ofProject}/URL?${filter}`)).body.value).toBe('two')
    const changed = await ana.put(`${ofProject}/URL`, {
      value: 'three',
      filter: { environment_scope: 'review/*' },
    })
    expect(changed.body).toMatchObject({ value: 'three', environment_scope: 'review/*' })
    expect((await ana.delete(`${ofProject}/URL?${filter}`)).status).toBe(204)
    expect((await ana.get(`${ofProject}/URL`)).body.value).toBe('one')
  })

  test('of the instance, the group and the project reach a job', async () => {
    await world.root.post('/admin/ci/variables', { key: 'A', value: 'instance' })
    await world.root.post('/admin/ci/variables', { key: 'B', value: 'instance' })
    await ana.post(`/groups/${group.id}/variables`, { key: 'B', value: 'group' })
    await ana.post(`/groups/${group.id}/variables`, { key: 'C', value: 'group' })
    await ana.post(ofProject, { key: 'C', value: 'project', variable_type: 'file' })
    await ana.post(ofProject, { key: 'PROTECTED', value: 'for-main-only', protected: true })
    commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: make}' }, ref: 'refs/heads/open' })
    await ana.post(`/projects/${project.id}/pipeline`, { ref: 'open' })
    const runner = await addRunner(world, ana, project.id)
    const job = await runner.request()
    const sent = new Map(
      job?.variables.map((one: { key: string }) => [one.key, one]) as [string, object][],
    )
    expect(sent.get('A')).toMatchObject({ value: 'instance' })
    expect(sent.get('B')).toMatchObject({ value: 'group' })
    expect(sent.get('C')).toMatchObject({ value: 'project', file: true })
    expect(sent.has('PROTECTED')).toBe(false)
    expect(sent.has('URL')).toBe(false)
  })
})

test('a job gets the languages of its project in a variable, the largest share first', async () => {
  const mixed = await addProject(world, ana, 'basic', { path: 'mixed' })
  const files = {
    '.svc-ci.yml': 'job: {script: make}',
    'big.rb': 'puts 1\n'.repeat(500),
    'small.go': 'package main\n',
  }
  commitFiles(mixed, { files })
  const at = `/projects/${mixed.id}`
  const runner = await addRunner(world, ana, mixed.id)
  const { body: shares } = await ana.get(`${at}/languages`)
  expect(Object.keys(shares)).toEqual(expect.arrayContaining(['Ruby', 'Go']))
  expect((await ana.post(`${at}/pipeline`, { ref: 'main' })).status).toBe(201)
  const job = await runner.request()
  const sent = job?.variables.find(
    (one: { key: string }) => one.key === 'CI_PROJECT_REPOSITORY_LANGUAGES',
  )
  const names = Object.entries(shares as Record<string, number>)
    .sort(([, a], [, b]) => b - a)
    .map(([name]) => name.toLowerCase())
  expect(names[0]).toBe('ruby')
  expect(sent?.value).toBe(names.join(','))
})
