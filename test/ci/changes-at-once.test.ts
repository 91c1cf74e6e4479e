import { beforeAll, describe, expect, test } from 'vitest'
import { atOnce } from '../support/at-once.ts'
import { commitFiles } from '../support/fast-import.ts'
import { git } from '../support/git.ts'
import { addMember, addProject, type TestProject } from '../support/project.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const mona = useCaller(world, 'mona')
let project: TestProject
let path: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic')
  await addMember(world, project, mona, 40)
  commitFiles(project, { files: { '.svc-ci.yml': 'x: {script: make}' } })
  path = `/projects/${project.id}`
})

/** Sends changes of one thing at once; gives their statuses and what the thing is then. */
async function changed(at: string, ...changes: object[]) {
  const sent = await atOnce(
    world,
    changes.map((body) => () => ana.put(at, body)),
  )
  const { body } = await ana.get(at)
  return { statuses: sent.map(({ status }) => status), body }
}

describe('several changes at once', () => {
  test('of a variable are all kept', async () => {
    await ana.post(`${path}/variables`, { key: 'VAR', value: 'first-value' })
    const { statuses, body } = await changed(
      `${path}/variables/VAR`,
      { description: 'said' },
      { raw: true },
      { protected: true },
      { value: 'second-value' },
    )
    expect(statuses).toEqual([200, 200, 200, 200])
    const all = { description: 'said', raw: true, protected: true, value: 'second-value' }
    expect(body).toMatchObject(all)
  })

  test('of a variable never make one that would be refused as a whole', async () => {
    await ana.post(`${path}/variables`, { key: 'MASKED', value: 'can-be-masked' })
    const { statuses, body } = await changed(
      `${path}/variables/MASKED`,
      { masked: true },
      { value: 'no' },
    )
    expect(statuses.sort()).toEqual([200, 400])
    expect(body.masked && body.value === 'no').toBe(false)
  })

  test('of a trigger are all kept', async () => {
    const { body: made } = await ana.post(`${path}/triggers`, { description: 'made' })
    const { body } = await changed(
      `${path}/triggers/${made.id}`,
      { expires_at: '2030-01-01T00:00:00Z' },
      { description: 'said' },
    )
    expect(body).toMatchObject({ description: 'said', expires_at: '2030-01-01T00:00:00.000Z' })
  })

  test('of a schedule are all kept, its inputs too', async () => {
    const made = { description: 'made', ref: 'main', cron: '0 1 * * *' }
    const { body: schedule } = await ana.post(`${path}/pipeline_schedules`, made)
    const { body } = await changed(
      `${path}/pipeline_schedules/${schedule.id}`,
      { description: 'said' },
      { cron: '30 4 * * *' },
      { cron_timezone: 'Asia/Tokyo' },
      { inputs: [{ name: 'a', value: 1 }] },
      { inputs: [{ name: 'b', value: 2 }] },
    )
    expect(body).toMatchObject({
      description: 'said',
      cron: '30 4 * * *',
      cron_timezone: 'Asia/Tokyo',
      // 4:30 in Tokyo.
      next_run_at: '2026-05-04T19:30:00.000Z',
    })
    expect(body.inputs).toHaveLength(2)
  })

  test('of a feature flag and of an environment are all kept', async () => {
    await ana.post(`${path}/feature_flags`, { name: 'flag' })
    const flag = await changed(
      `${path}/feature_flags/flag`,
      { description: 'said' },
      { active: false },
    )
    expect(flag.body).toMatchObject({ description: 'said', active: false })
    const { body: made } = await ana.post(`${path}/environments`, { name: 'env' })
    const environment = await changed(
      `${path}/environments/${made.id}`,
      { tier: 'staging' },
      { auto_stop_setting: 'with_action' },
    )
    expect(environment.body).toMatchObject({ tier: 'staging', auto_stop_setting: 'with_action' })
  })
})

describe('what several say at once', () => {
  test('of a deployment that ends is true of the first', async () => {
    const sha = git(project.path, ['rev-parse', 'main'])
    const made = { environment: 'shown', sha, ref: 'main', tag: false, status: 'running' }
    const { body: deployment } = await ana.post(`${path}/deployments`, made)
    const { statuses } = await changed(
      `${path}/deployments/${deployment.id}`,
      { status: 'success' },
      { status: 'failed' },
    )
    expect(statuses.sort()).toEqual([200, 400])
  })

  test('of a feature flag calls hooks when it switches the flag', async () => {
    await ana.post(`${path}/hooks`, {
      url: 'http://hooks.example.com/',
      push_events: false,
      feature_flag_events: true,
    })
    await ana.post(`${path}/feature_flags`, { name: 'switched' })
    await changed(`${path}/feature_flags/switched`, { active: false }, { active: false })
    const deliveries = await world.ctx.db.selectFrom('webhook_deliveries').select('id').execute()
    expect(deliveries).toHaveLength(1)
  })

  test('of an environment does not take away what was started again', async () => {
    const { body: made } = await ana.post(`${path}/environments`, { name: 'back' })
    await ana.post(`${path}/environments/${made.id}/stop`)
    const [reply] = await atOnce(
      world,
      [() => ana.delete(`${path}/environments/${made.id}`)],
      (db) =>
        db
          .updateTable('environments')
          .set({ state: 'available' })
          .where('id', '=', made.id)
          .execute(),
    )
    expect(reply?.status).toBe(403)
  })
})

describe('a schedule that two play', () => {
  test('runs for each of them', async () => {
    const made = { description: 'played', ref: 'main', cron: '0 1 * * *' }
    const at = `${path}/pipeline_schedules`
    const { body: schedule } = await ana.post(at, made)
    const play = (by: Caller) => by.post(`${at}/${schedule.id}/play`)
    const replies = await Promise.all([play(ana), play(mona)])
    expect(replies.map(({ status }) => status)).toEqual([201, 201])
    await world.runTasks()
    const { body } = await ana.get(`${path}/pipelines?source=schedule`)
    const by = await Promise.all(
      (body as { id: number }[]).map(({ id }) => ana.get(`${path}/pipelines/${id}`)),
    )
    expect(by.map(({ body }) => body.user.username).sort()).toEqual(['ana', 'mona'])
    const left = await world.ctx.db.selectFrom('ci_schedule_plays').selectAll().execute()
    expect(left).toEqual([])
  })
})
