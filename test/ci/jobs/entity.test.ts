import { beforeAll, describe, expect, test } from 'vitest'
import {
  addCiPlace,
  type CiPlace,
  jobsByName,
  startJob,
  startPipeline,
  takeJob,
} from '../../support/ci.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
const guest = useCaller(world, 'guest')
let place: CiPlace

const atFirst = '2026-05-04T10:00:00.000Z'

const config = `
workflow: {rules: [{if: '$CI_PIPELINE_SOURCE == "api"'}]}
build: {stage: build, script: make, tags: [big]}
test: {stage: test, script: make, allow_failure: true}
ship: {stage: deploy, script: make, when: manual}
later: {stage: deploy, script: make, when: delayed, start_in: 1 hour}
`

beforeAll(async () => {
  place = await newPlace(config)
})

const newPlace = (yaml: string) =>
  addCiPlace(world, ana, yaml, {
    members: [
      [dev, 30],
      [rep, 20],
      [guest, 10],
    ],
    runner: { tag_list: 'big,more', description: 'the one' },
  })

async function finishAll({ runner }: CiPlace) {
  for (let job = await runner.request(); job; job = await runner.request()) {
    await runner.update(job, 'success')
  }
}

describe('a job shows', () => {
  test('when it was made, queued, begun and ended, and how long that took', async () => {
    const pipeline = await startPipeline(place, { by: dev })
    const { build } = await jobsByName(place, pipeline)
    const at = `${place.path}/jobs/${build?.id}`
    const times = async () => {
      const { created_at, started_at, finished_at, duration, queued_duration } = (await rep.get(at))
        .body
      return [created_at, started_at, finished_at, duration, queued_duration]
    }
    expect(await times()).toEqual([atFirst, null, null, null, 0])
    world.setNow('2026-05-04T10:00:30.000Z')
    expect(await times()).toEqual([atFirst, null, null, null, 30])
    const job = await takeJob(place)
    expect(job.job_info.time_in_queue_seconds).toBe(30)
    world.setNow('2026-05-04T10:01:40.000Z')
    expect(await times()).toEqual([atFirst, '2026-05-04T10:00:30.000Z', null, 70, 30])
    await place.runner.update(job, 'success')
    world.setNow('2026-05-04T12:00:00.000Z')
    expect(await times()).toEqual([
      atFirst,
      '2026-05-04T10:00:30.000Z',
      '2026-05-04T10:01:40.000Z',
      70,
      30,
    ])
    world.setNow(atFirst)
    await ana.post(`${place.path}/pipelines/${pipeline}/cancel`)
  })

  test('who runs it: the runner and its machine', async () => {
    const pipeline = await startPipeline(place)
    const { build } = await jobsByName(place, pipeline)
    const at = `${place.path}/jobs/${build?.id}`
    const before = (await rep.get(at)).body
    expect([before.runner, before.runner_manager, before.tag_list]).toEqual([null, null, ['big']])
    const info = { version: '17.5.0', revision: 'abc', platform: 'linux', architecture: 'arm64' }
    const job = await place.runner.request({ system_id: 's_machine', info })
    expect(job?.id).toBe(build?.id)
    const shown = (await rep.get(at)).body
    expect(shown.runner).toMatchObject({ description: 'the one', runner_type: 'project_type' })
    expect(shown.runner_manager).toEqual({
      id: expect.any(Number),
      system_id: 's_machine',
      ...info,
      ip_address: '127.0.0.1',
      created_at: atFirst,
      contacted_at: atFirst,
      status: 'online',
    })
    expect(shown.tag_list).toEqual(['big'])
    if (job) await place.runner.update(job, 'success')
    const listed = (await rep.get(`${place.path}/jobs?per_page=100`)).body
    const again = listed.find((one: { id: number }) => one.id === build?.id)
    expect(again.runner_manager).toEqual(shown.runner_manager)
    await place.runner.call('DELETE', '/runners/managers', {
      token: place.runner.token,
      system_id: 's_machine',
    })
    expect((await rep.get(at)).body.runner_manager).toBeNull()
    await ana.post(`${place.path}/pipelines/${pipeline}/cancel`)
  })

  test('the commit, the pipeline and the address of its page', async () => {
    const { at, pipeline, job } = await startJob(place)
    const { body } = await rep.get(at)
    const sha = place.project.git('rev-parse', 'main')
    expect(body).toMatchObject({
      id: job.id,
      name: 'build',
      stage: 'build',
      ref: 'main',
      tag: false,
      coverage: null,
      allow_failure: false,
      erased_at: null,
      archived: false,
      commit: { id: sha, short_id: sha.slice(0, 8), title: expect.any(String) },
      pipeline: { id: pipeline, project_id: place.project.id, sha, ref: 'main', status: 'running' },
      web_url: `${world.ctx.config.externalUrl}/${place.project.fullPath}/-/jobs/${job.id}`,
      artifacts: [],
      artifacts_expire_at: null,
      project: { ci_job_token_scope_enabled: false },
    })
    expect(body).not.toHaveProperty('artifacts_file')
    expect(body).not.toHaveProperty('failure_reason')
    await place.runner.update(job, 'success')
    await ana.post(`${place.path}/pipelines/${pipeline}/cancel`)
  })
})

describe('what may be done to a job', () => {
  /** A pipeline whose first jobs are done, with those that wait behind them. */
  async function waiting(to = place) {
    const pipeline = await startPipeline(to, { by: dev })
    await finishAll(to)
    const { ship, later, build } = await jobsByName(to, pipeline)
    const at = (job?: { id: number }) => `${to.path}/jobs/${job?.id}`
    return { pipeline, ship: at(ship), later: at(later), build: at(build) }
  }

  test('is for Developers, and not for those who may only look', async () => {
    const { ship, build } = await waiting()
    for (const path of [
      `${ship}/play`,
      `${ship}/cancel`,
      `${build}/retry`,
      `${build}/erase`,
      `${build}/artifacts/keep`,
    ]) {
      const statuses = []
      for (const by of [world.nobody, guest, rep]) statuses.push((await by.post(path)).status)
      expect([path, ...statuses]).toEqual([path, 404, 403, 403])
    }
    expect((await dev.post(`${build}/retry`)).status).toBe(201)
    expect((await dev.post(`${ship}/play`)).status).toBe(200)
    await finishAll(place)
  })

  test('on a protected ref is for those who may push or merge there', async () => {
    const { ship, build, pipeline } = await waiting()
    const body = { name: 'main', push_access_level: 40, merge_access_level: 40 }
    await ana.post(`${place.path}/protected_branches`, body)
    const calls = [`${ship}/play`, `${ship}/cancel`, `${build}/retry`, `${build}/erase`]
    const refused = await Promise.all(calls.map((path) => dev.post(path)))
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    const cancel = `${place.path}/pipelines/${pipeline}/cancel`
    expect((await dev.post(cancel)).status).toBe(403)
    // Who may merge may run.
    await ana.patch(`${place.path}/protected_branches/main`, {
      allowed_to_merge: [{ access_level: 30 }],
    })
    expect((await dev.post(`${ship}/play`)).status).toBe(200)
    await ana.delete(`${place.path}/protected_branches/main`)
    await finishAll(place)
  })

  test('ends in an archived project, where everything can still be read', async () => {
    const to = await newPlace(config)
    const { ship, build } = await waiting(to)
    await ana.post(`${to.path}/archive`)
    for (const path of [`${ship}/play`, `${build}/retry`, `${build}/erase`, `${ship}/cancel`]) {
      expect((await ana.post(path)).status).toBe(403)
    }
    expect((await rep.get(build)).status).toBe(200)
  })

  test('is nothing for a job of another project, whoever asks', async () => {
    const other = await newPlace(config)
    const { build } = await waiting()
    const id = build.split('/').at(-1)
    const at = `${other.path}/jobs/${id}`
    for (const path of ['', '/trace', '/artifacts', '/artifacts/tree']) {
      expect((await ana.get(at + path)).status).toBe(404)
    }
    for (const path of ['/play', '/cancel', '/retry', '/erase', '/artifacts/keep']) {
      expect((await ana.post(at + path)).status).toBe(404)
    }
    expect((await ana.get(`${place.path}/jobs/0`)).status).toBe(404)
    expect((await ana.get(`${place.path}/jobs/x`)).status).toBe(400)
  })
})

describe('a job that waits for its time', () => {
  test('is scheduled, starts then, and can be started or canceled before', async () => {
    const to = await newPlace(config)
    const begun = async () => {
      const pipeline = await startPipeline(to)
      await finishAll(to)
      const { later } = await jobsByName(to, pipeline)
      return { id: later?.id, at: `${to.path}/jobs/${later?.id}` }
    }
    const first = await begun()
    expect((await rep.get(first.at)).body.status).toBe('scheduled')
    const played = await dev.post(`${first.at}/play`)
    expect([played.status, played.body.status]).toEqual([200, 'pending'])
    expect((await takeJob(to)).id).toBe(first.id)
    const second = await begun()
    expect((await dev.post(`${second.at}/cancel`)).body.status).toBe('canceled')
    const third = await begun()
    world.setNow('2026-05-04T11:00:01.000Z')
    await world.runTasks()
    expect((await rep.get(third.at)).body.status).toBe('pending')
    expect((await rep.get(second.at)).body.status).toBe('canceled')
    world.setNow(atFirst)
  })
})

describe('jobs that are canceled', () => {
  test('end at once while they wait, and when their runner cannot clean up', async () => {
    const to = await newPlace('x: {script: make, tags: [big]}')
    const waiting = await startPipeline(to)
    const { x } = await jobsByName(to, waiting)
    const canceled = await dev.post(`${to.path}/jobs/${x?.id}/cancel`)
    expect([canceled.status, canceled.body]).toEqual([
      201,
      expect.objectContaining({ status: 'canceled', finished_at: atFirst, started_at: null }),
    ])
    expect(await to.runner.request()).toBeUndefined()
    to.runner.features = { cancel_gracefully: false }
    const { job, at } = await startJob(to)
    expect((await dev.post(`${at}/cancel`)).body.status).toBe('canceled')
    const answer = await to.runner.update(job, 'running')
    expect([answer.status, answer.headers.get('job-status')]).toEqual([403, 'canceled'])
  })

  test('are counted once when several cancel, retry and play them at the same time', async () => {
    const to = await newPlace('x: {script: make, when: manual}\ny: {script: make}')
    const pipeline = await startPipeline(to)
    const { x } = await jobsByName(to, pipeline)
    const at = `${to.path}/jobs/${x?.id}`
    const replies = await Promise.all([
      dev.post(`${at}/play`),
      ana.post(`${at}/cancel`),
      dev.post(`${at}/play`),
      ana.post(`${at}/cancel`),
    ])
    const plays = [replies[0], replies[2]].map((reply) => reply?.status)
    expect(plays.filter((status) => status === 200).length).toBeLessThanOrEqual(1)
    expect((await rep.get(at)).body.status).toBe('canceled')
    const retries = await Promise.all([dev.post(`${at}/retry`), ana.post(`${at}/retry`)])
    expect(retries.map(({ status }) => status).sort()).toEqual([201, 403])
    const { body } = await ana.get(`${to.path}/pipelines/${pipeline}/jobs?include_retried=true`)
    expect(body.filter((one: { name: string }) => one.name === 'x')).toHaveLength(2)
  })
})
