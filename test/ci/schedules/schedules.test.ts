import { beforeAll, describe, expect, test } from 'vitest'
import { isBetween, nextRun } from '../../../src/ci/config/cron.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let path: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'scheduled' })
  await addMember(world, project, dev, 30)
  commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: make}' } })
  commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: make}' }, ref: 'refs/heads/open' })
  path = `/projects/${project.id}/pipeline_schedules`
})

const nightly = { description: 'nightly', ref: 'open', cron: '30 3 * * *' }

async function pipelines(source = 'schedule') {
  const { body } = await ana.get(`/projects/${project.id}/pipelines?source=${source}`)
  return body as { id: number; ref: string }[]
}

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
  ])('that says %j is refused', async (more, message) => {
    expect((await ana.post(path, { ...nightly, ...more })).body).toEqual({ message })
  })

  test('starts its pipeline once when its time comes, with its variables', async () => {
    const made = await dev.post(path, nightly)
    const one = `${path}/${made.body.id}`
    await dev.post(`${one}/variables`, { key: 'NIGHT', value: 'yes' })
    await world.runTasks()
    expect(await pipelines()).toEqual([])
    world.setNow('2026-05-05T03:30:20.000Z')
    await world.runTasks()
    await world.runTasks()
    const [pipeline, ...more] = await pipelines()
    expect(more).toEqual([])
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

  test('whose owner may run pipelines no more is switched off', async () => {
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
