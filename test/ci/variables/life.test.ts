import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner, type GivenJob, type TestRunner } from '../../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mona = useCaller(world, 'mona')
let project: TestProject
let runner: TestRunner
let group: { id: number }
let subgroup: { id: number }
const paths = new Map<string, string>()

beforeAll(async () => {
  group = await createGroup(ana, 'team')
  subgroup = await createGroup(ana, 'sub', { parent_id: group.id })
  project = await addProject(world, ana, 'basic', { path: 'vars' })
  await ana.put(`/projects/${project.id}/transfer`, { namespace: subgroup.id })
  await addMember(world, project, mona, 40)
  commitFiles(project, {
    files: {
      '.svc-ci.yml':
        'plain: {script: make}\nlive: {script: make, environment: production/eu, needs: []}',
    },
  })
  runner = await addRunner(world, ana, project.id)
  paths.set('project', `/projects/${project.id}/variables`)
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
  const key = `LIFE_OF_${place.toUpperCase()}`
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

  test('is refused where it could not be used', async () => {
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

  test('that is masked may not be given a value that a log could not hide', async () => {
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

test('the nearest place wins, and without it the next one above', async () => {
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

test('the scope that fits an environment best wins, also for variables of a group', async () => {
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

test('a job gets the value as its attributes say, and its log does not show masked ones', async () => {
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

test('the variables of a project go with it', async () => {
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
