import { beforeAll, describe, expect, test } from 'vitest'
import { isBetween, nextRun } from '../../../src/ci/config/cron.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { addRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let path: string

const config = `
spec:
  inputs:
    where: {default: nowhere}
    times: {type: number, default: 1}
---
"go $[[ inputs.where ]]":
  script: make
  parallel: $[[ inputs.times ]]
`

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'scheduled' })
  await addMember(world, project, dev, 30)
  for (const ref of ['refs/heads/main', 'refs/heads/open']) {
    commitFiles(project, { files: { '.svc-ci.yml': config }, ref })
  }
  path = `/projects/${project.id}/pipeline_schedules`
})

const nightly = { description: 'nightly', ref: 'open', cron: '30 3 * * *' }

async function made(more: object = {}, by = dev): Promise<{ id: number; at: string }> {
  const reply = await by.post(path, { ...nightly, ...more })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return { id: reply.body.id, at: `${path}/${reply.body.id}` }
}

/** Plays a schedule, and gives the pipeline that comes of it. */
async function played(schedule: { at: string }, by = ana) {
  expect((await by.post(`${schedule.at}/play`)).status).toBe(201)
  await world.runTasks()
  const { body } = await ana.get(schedule.at)
  return body.last_pipeline as { id: number; ref: string; sha: string } | null
}

async function pipelines(source = 'schedule') {
  const { body } = await ana.get(`/projects/${project.id}/pipelines?source=${source}`)
  return body as { id: number; ref: string }[]
}

describe('a schedule', () => {
  test('is changed attribute by attribute, and its next run follows', async () => {
    const { at } = await made()
    const first = (await dev.get(at)).body
    expect(first).toMatchObject({
      ...nightly,
      ref: 'refs/heads/open',
      cron_timezone: 'UTC',
      active: true,
      next_run_at: '2026-05-05T03:30:00.000Z',
      owner: { username: 'dev' },
    })
    const changes: [object, object][] = [
      [{ description: 'daily' }, { description: 'daily' }],
      [{ ref: 'main' }, { ref: 'refs/heads/main' }],
      [{ ref: 'refs/heads/open' }, { ref: 'refs/heads/open' }],
      [{ cron: '0 12 * * *' }, { cron: '0 12 * * *', next_run_at: '2026-05-04T12:00:00.000Z' }],
      [
        { cron_timezone: 'Asia/Tokyo' },
        { cron_timezone: 'Asia/Tokyo', next_run_at: '2026-05-05T03:00:00.000Z' },
      ],
      [{ active: false }, { active: false }],
    ]
    let expected = first
    for (const [change, effect] of changes) {
      expected = { ...expected, ...effect }
      const changed = await dev.put(at, change)
      expect([changed.status, changed.body]).toEqual([200, expected])
    }
    expect((await dev.put(at, { cron: 'every day' })).body).toEqual({
      message: { cron: ['syntax is invalid'] },
    })
    expect((await dev.put(at, { ref: 'gone' })).status).toBe(400)
    expect((await dev.put(at, { description: '' })).status).toBe(400)
    expect((await dev.get(at)).body).toEqual(expected)
    expect((await dev.delete(at)).status).toBe(204)
    expect((await dev.get(at)).body).toEqual({ message: '404 Pipeline Schedule Not Found' })
  })

  test('is listed by whether it is active, in pages', async () => {
    const on = await made({ description: 'on' })
    const off = await made({ description: 'off', active: false })
    const ids = async (query: string) =>
      ((await dev.get(`${path}?${query}`)).body as { id: number }[]).map((one) => one.id)
    expect(await ids('')).toEqual([on.id, off.id])
    expect(await ids('scope=active')).toEqual([on.id])
    expect(await ids('scope=inactive')).toEqual([off.id])
    expect(await ids('per_page=1&page=2')).toEqual([off.id])
    const wrong = await dev.get(`${path}?scope=all`)
    expect([wrong.status, wrong.body]).toEqual([
      400,
      { error: 'scope does not have a valid value' },
    ])
    for (const { at } of [on, off]) await dev.delete(at)
  })

  test('gives its inputs to the configuration, and forgets those that are taken away', async () => {
    const inputs = [
      { name: 'where', value: 'north' },
      { name: 'times', value: 2 },
    ]
    const schedule = await made({ inputs })
    expect((await dev.get(schedule.at)).body.inputs).toEqual(inputs)
    const jobsOf = async (pipeline: number) => {
      const { body } = await ana.get(`/projects/${project.id}/pipelines/${pipeline}/jobs`)
      return (body as { name: string }[]).map((job) => job.name).sort()
    }
    const first = await played(schedule)
    expect(await jobsOf(first?.id ?? 0)).toEqual(['go north 1/2', 'go north 2/2'])
    const changed = await dev.put(schedule.at, {
      inputs: [
        { name: 'times', destroy: true },
        { name: 'where', value: 'south' },
      ],
    })
    expect(changed.body.inputs).toEqual([{ name: 'where', value: 'south' }])
    const second = await played(schedule, dev)
    expect(await jobsOf(second?.id ?? 0)).toEqual(['go south 1/1'])
    await dev.delete(schedule.at)
  })

  test('gives the jobs of its pipelines their source and its description', async () => {
    const schedule = await made({ description: 'what the jobs see' })
    const runner = await addRunner(world, ana, project.id)
    await played(schedule)
    let seen: Record<string, string> = {}
    for (let job = await runner.request(); job; job = await runner.request()) {
      const all = job.variables as { key: string; value: string }[]
      seen = Object.fromEntries(all.map(({ key, value }) => [key, value]))
      await runner.finish(job, 'success')
    }
    expect(seen).toMatchObject({
      CI_PIPELINE_SOURCE: 'schedule',
      CI_PIPELINE_SCHEDULE_DESCRIPTION: 'what the jobs see',
    })
    await dev.delete(schedule.at)
  })

  test('is switched off when its branch is deleted', async () => {
    await ana.post(`${project.api}/branches`, { branch: 'brief', ref: 'open' })
    const schedule = await made({ ref: 'brief', cron: '0 11 * * *' })
    await ana.delete(`${project.api}/branches/brief`)
    world.setNow('2026-05-04T11:00:30.000Z')
    await world.runTasks()
    expect((await dev.get(schedule.at)).body).toMatchObject({ active: false, last_pipeline: null })
    world.setNow('2026-05-04T10:00:00.000Z')
    await dev.delete(schedule.at)
  })
})

describe('a variable of a schedule', () => {
  test('is made, read, changed and removed', async () => {
    const { at } = await made()
    const key = { key: 'NIGHT', value: 'one', variable_type: 'file' }
    const added = await dev.post(`${at}/variables`, key)
    expect([added.status, added.body]).toEqual([201, { ...key, raw: false }])
    const twice = await dev.post(`${at}/variables`, key)
    expect([twice.status, twice.body]).toEqual([
      400,
      { message: { key: ['(NIGHT) has already been taken'] } },
    ])
    const bad = await dev.post(`${at}/variables`, { key: 'a-b', value: 'x' })
    expect(bad.body).toEqual({ message: { key: ["can contain only letters, digits and '_'."] } })
    const changed = await dev.put(`${at}/variables/NIGHT`, { value: 'two' })
    expect(changed.body).toEqual({ ...key, value: 'two', raw: false })
    expect((await dev.get(`${at}/variables/NIGHT`)).body).toEqual(changed.body)
    expect((await dev.get(at)).body.variables).toEqual([changed.body])
    const typed = await dev.put(`${at}/variables/NIGHT`, { variable_type: 'env_var' })
    expect(typed.body).toEqual({ ...changed.body, variable_type: 'env_var' })
    expect((await dev.put(`${at}/variables/NIGHT`, {})).status).toBe(400)
    const gone = await dev.delete(`${at}/variables/NIGHT`)
    expect([gone.status, gone.body]).toEqual([202, typed.body])
    expect((await dev.get(`${at}/variables/NIGHT`)).status).toBe(404)
    expect((await dev.put(`${at}/variables/NIGHT`, { value: 'x' })).status).toBe(404)
    await dev.delete(at)
  })

  test('takes precedence over one of the project', async () => {
    await ana.post(`/projects/${project.id}/variables`, { key: 'LEVEL', value: 'project' })
    const schedule = await made()
    await dev.post(`${schedule.at}/variables`, { key: 'LEVEL', value: 'schedule' })
    const pipeline = await played(schedule)
    const runner = await addRunner(world, ana, project.id)
    let job = await runner.request()
    while (job && job.job_info.pipeline_id !== pipeline?.id) job = await runner.request()
    const all = job?.variables as { key: string; value: string }[]
    expect(all.find((one) => one.key === 'LEVEL')?.value).toBe('schedule')
    if (job) await runner.finish(job, 'success')
    await dev.delete(schedule.at)
    // What it started stays.
    expect((await ana.get(`/projects/${project.id}/pipelines/${pipeline?.id}`)).status).toBe(200)
  })
})

describe('a schedule', () => {
  test('is made with its next run in the time zone that it names', async () => {
    const made = await dev.post(path, { ...nightly, cron_timezone: 'America/New_York' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      ref: 'refs/heads/open',
      cron: '30 3 * * *',
      next_run_at: '2026-05-05T07:30:00.000Z',
      active: true,
      owner: { username: 'dev' },
      last_pipeline: null,
      variables: [],
      inputs: [],
    })
    await dev.delete(`${path}/${made.body.id}`)
  })

  test.each([
    [{ cron: '61 * * * *' }, { cron: ['syntax is invalid'] }],
    [{ cron: '* * * * * *' }, { cron: ['syntax is invalid'] }],
    [{ cron: '0 0 31 2 *' }, { cron: ['syntax is invalid'] }],
    [{ cron_timezone: 'Mars/Olympus' }, { cron_timezone: ['syntax is invalid'] }],
    [{ ref: 'nowhere' }, { ref: ['is ambiguous or does not exist'] }],
    [{ description: ' ' }, { description: ["can't be blank"] }],
  ])('is refused with %j', async (more, message) => {
    expect((await ana.post(path, { ...nightly, ...more })).body).toEqual({ message })
  })

  test('starts its pipeline once when its time comes, with its variables', async () => {
    const made = await dev.post(path, nightly)
    const one = `${path}/${made.body.id}`
    await dev.post(`${one}/variables`, { key: 'NIGHT', value: 'yes' })
    const before = await pipelines()
    await world.runTasks()
    expect(await pipelines()).toEqual(before)
    world.setNow('2026-05-05T03:30:20.000Z')
    await world.runTasks()
    await world.runTasks()
    const [pipeline, ...more] = await pipelines()
    expect(more).toEqual(before)
    expect(pipeline).toMatchObject({ ref: 'open' })
    const given = await dev.get(`/projects/${project.id}/pipelines/${pipeline?.id}/variables`)
    expect(given.body).toMatchObject([{ key: 'NIGHT', value: 'yes' }])
    const after = await dev.get(one)
    expect(after.body).toMatchObject({
      next_run_at: '2026-05-06T03:30:00.000Z',
      last_pipeline: { id: pipeline?.id },
    })
    expect((await dev.get(`${one}/pipelines`)).body).toMatchObject([{ id: pipeline?.id }])
    await dev.delete(one)
  })

  test('runs when somebody plays it, once a minute at most', async () => {
    const made = await dev.post(path, { ...nightly, active: false })
    const before = (await pipelines()).length
    const played = await ana.post(`${path}/${made.body.id}/play`)
    expect(played).toMatchObject({ status: 201, body: { message: '201 Created' } })
    expect((await ana.post(`${path}/${made.body.id}/play`)).status).toBe(429)
    await world.runTasks()
    expect((await pipelines()).length).toBe(before + 1)
    await dev.delete(`${path}/${made.body.id}`)
  })

  test('is switched off when its owner may run no pipelines any more', async () => {
    const kim = await world.user('kim')
    await addMember(world, project, kim, 30)
    const made = await kim.post(path, { ...nightly, cron: '0 12 * * *' })
    await ana.delete(`/projects/${project.id}/members/${kim.id}`)
    world.setNow('2026-05-07T12:00:30.000Z')
    const before = (await pipelines()).length
    await world.runTasks()
    expect((await pipelines()).length).toBe(before)
    expect((await ana.get(`${path}/${made.body.id}`)).body.active).toBe(false)
    const taken = await ana.post(`${path}/${made.body.id}/take_ownership`)
    expect(taken.body.owner.username).toBe('ana')
  })

  test('of others is changed by maintainers only, and none is made for a protected ref', async () => {
    const made = await ana.post(path, { ...nightly, ref: 'main' })
    const one = `${path}/${made.body.id}`
    await ana.post(`${one}/variables`, { key: 'SECRET', value: 'value' })
    expect((await dev.put(one, { cron: '1 1 * * *' })).status).toBe(403)
    expect((await dev.get(one)).body).not.toHaveProperty('variables')
    expect((await dev.get(`${one}/variables/SECRET`)).status).toBe(403)
    await ana.post(`/projects/${project.id}/protected_branches`, {
      name: 'main',
      push_access_level: 40,
      merge_access_level: 40,
    })
    expect((await dev.post(path, { ...nightly, ref: 'main' })).status).toBe(403)
    expect((await dev.post(`${one}/play`)).status).toBe(403)
    const dropped = await ana.delete(`${one}/variables/SECRET`)
    expect(dropped).toMatchObject({ status: 202, body: { key: 'SECRET', value: 'value' } })
  })
})

test('times follow summer time', () => {
  const at = (after: string) => nextRun('0 2 * * *', 'Europe/Berlin', after)
  expect(at('2026-03-27T12:00:00Z')).toBe('2026-03-28T01:00:00.000Z')
  expect(at('2026-06-27T12:00:00Z')).toBe('2026-06-28T00:00:00.000Z')
})

test.each([
  ['2026-05-08T22:59:00.000Z', false],
  ['2026-05-08T23:00:00.000Z', true],
  ['2026-05-10T12:00:00.000Z', true],
  ['2026-05-11T07:00:00.000Z', false],
])('at %s a freeze from Friday night to Monday morning holds: %s', (now, frozen) => {
  expect(isBetween(now, { start: '0 23 * * 5', end: '0 7 * * 1', timezone: 'UTC' })).toBe(frozen)
})
