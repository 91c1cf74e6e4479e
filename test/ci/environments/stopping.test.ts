import { describe, expect, test } from 'vitest'
import { stopDueEnvironments } from '../../../src/ci/deployments/tasks.ts'
import { atOnce } from '../../support/at-once.ts'
import { addCiPlace, type CiPlace, jobsByName, startPipeline, takeJob } from '../../support/ci.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')

const atFirst = '2026-05-04T10:00:00.000Z'

const stopDue = () => stopDueEnvironments.handler(world.ctx, {}, new AbortController().signal)

const newPlace = (yaml: string) =>
  addCiPlace(world, ana, yaml, {
    members: [
      [dev, 30],
      [rep, 20],
    ],
  })

interface Environment {
  readonly id: number
  readonly name: string
  readonly state: string
  readonly auto_stop_at: string | null
}

async function environmentOf(place: CiPlace, name: string): Promise<Environment> {
  const { body } = await ana.get(`${place.path}/environments?name=${encodeURIComponent(name)}`)
  return body[0]
}

const stopped = (on_stop = 'end', more = '') => `
ship: {script: make, environment: {name: live, on_stop: ${on_stop}${more}}}
end: {script: rm, when: manual, environment: {name: live, action: stop}}
`

/** Deploys; gives the environment and the pipeline. */
async function deployed(yaml: string, by = dev) {
  const place = await newPlace(yaml)
  const pipeline = await startPipeline(place, { by })
  await place.runner.finish(await takeJob(place), 'success')
  const { id } = await environmentOf(place, 'live')
  const at = `${place.path}/environments/${id}`
  const state = async () => (await ana.get(at)).body.state
  const job = async (name: string) => (await jobsByName(place, pipeline))[name]
  return { place, pipeline, at, state, job }
}

describe('a deployment follows its job', () => {
  test('from its start to each end, and the environment shows the last that went well', async () => {
    const place = await newPlace('ship: {script: make, environment: live}')
    const seen: string[][] = []
    const last = async () => {
      const { body } = await ana.get(`${place.path}/deployments?sort=desc`)
      return body[0]
    }
    const ends = [
      async () => place.runner.update(await takeJob(place), 'success'),
      async () => place.runner.update(await takeJob(place), 'failed'),
      async () => {
        const job = await takeJob(place)
        await dev.post(`${place.path}/jobs/${job.id}/cancel`)
        expect((await last()).status).toBe('running')
        await place.runner.update(job, 'failed')
      },
    ]
    for (const end of ends) {
      await startPipeline(place, { by: dev })
      const before = (await last()).status
      await end()
      const after = await last()
      seen.push([before, after.status])
      expect(after).toMatchObject({ user: { username: 'dev' }, ref: 'main' })
      expect(after.deployable).toMatchObject({ name: 'ship', status: after.status })
    }
    expect(seen).toEqual([
      ['created', 'success'],
      ['created', 'failed'],
      ['created', 'canceled'],
    ])
    const { id } = await environmentOf(place, 'live')
    const { body } = await ana.get(`${place.path}/environments/${id}`)
    expect(body.last_deployment).toMatchObject({ iid: 1, status: 'success' })
    const iids = (await ana.get(`${place.path}/deployments`)).body.map(
      (one: { iid: number }) => one.iid,
    )
    expect(iids).toEqual([1, 2, 3])
  })

  test('again when it is run again, as a deployment of its own', async () => {
    const { place, job } = await deployed('ship: {script: make, environment: live}')
    const first = await job('ship')
    await dev.post(`${place.path}/jobs/${first?.id}/retry`)
    await place.runner.update(await takeJob(place), 'failed')
    const { body } = await ana.get(`${place.path}/deployments`)
    expect(body.map((one: { status: string }) => one.status)).toEqual(['success', 'failed'])
    const { id } = await environmentOf(place, 'live')
    const shown = (await ana.get(`${place.path}/environments/${id}`)).body
    expect(shown.last_deployment.deployable.id).toBe(first?.id)
  })

  test.each(['prepare', 'verify', 'access'])(
    'but not for the action %s, which only makes the environment',
    async (action) => {
      const place = await newPlace(
        `look: {script: make, environment: {name: live, action: ${action}}}`,
      )
      await startPipeline(place)
      await place.runner.update(await takeJob(place), 'success')
      expect((await ana.get(`${place.path}/deployments`)).body).toEqual([])
      expect(await environmentOf(place, 'live')).toMatchObject({ state: 'available' })
    },
  )

  test('is skipped with a job that is skipped', async () => {
    const place = await newPlace(
      'first: {stage: build, script: make}\nship: {stage: deploy, script: make, environment: live}',
    )
    await startPipeline(place)
    await place.runner.update(await takeJob(place), 'failed')
    const { body } = await ana.get(`${place.path}/deployments`)
    expect(body.map((one: { status: string }) => one.status)).toEqual(['skipped'])
  })
})

describe('an environment with a stop job', () => {
  test('is stopping while that runs, and stopped when it has gone well', async () => {
    const { place, at, state, job } = await deployed(stopped())
    const stop = () => dev.post(`${at}/stop`)
    const both = (await atOnce(world, [stop, stop])).map(({ body }) => body.state)
    expect(both).toEqual(['stopping', 'stopping'])
    // Asked again, nothing more begins.
    expect((await dev.post(`${at}/stop`)).body.state).toBe('stopping')
    const end = await takeJob(place)
    expect(end.job_info.name).toBe('end')
    expect(await place.runner.request()).toBeUndefined()
    expect(await state()).toBe('stopping')
    await place.runner.update(end, 'success')
    expect(await state()).toBe('stopped')
    expect((await dev.post(`${at}/stop`)).body.state).toBe('stopped')
    expect((await job('end'))?.status).toBe('success')
  })

  test.each(['failed', 'canceled'])('is there again when that job %s', async (how) => {
    const { place, at, state } = await deployed(stopped())
    await dev.post(`${at}/stop`)
    const end = await takeJob(place)
    if (how === 'failed') await place.runner.update(end, 'failed')
    else {
      await dev.post(`${place.path}/jobs/${end.id}/cancel`)
      await place.runner.update(end, 'failed')
    }
    expect(await state()).toBe('available')
    // The job is run anew for the next try.
    expect((await dev.post(`${at}/stop`)).body.state).toBe('stopping')
    const again = await takeJob(place)
    expect([again.job_info.name, again.id === end.id]).toEqual(['end', false])
    await place.runner.update(again, 'success')
    expect(await state()).toBe('stopped')
  })

  test('is stopped as well by whoever plays that job, and starts again with a deployment', async () => {
    const { place, at, state, job } = await deployed(stopped())
    const end = await job('end')
    await dev.post(`${place.path}/jobs/${end?.id}/play`)
    await place.runner.update(await takeJob(place), 'success')
    expect(await state()).toBe('stopped')
    await startPipeline(place)
    expect(await state()).toBe('stopped')
    await place.runner.update(await takeJob(place), 'success')
    expect(await state()).toBe('available')
    expect((await ana.get(at)).body.last_deployment.iid).toBe(2)
  })

  test('is what it takes: without one it is stopped at once', async () => {
    const { place, at } = await deployed('ship: {script: make, environment: live}')
    expect((await dev.post(`${at}/stop`)).body.state).toBe('stopped')
    expect(await place.runner.request()).toBeUndefined()
  })

  test('has nothing done that somebody has stopped a moment ago', async () => {
    const { place, at } = await deployed(stopped())
    const [reply] = await atOnce(world, [() => dev.post(`${at}/stop`)], (db) =>
      db.updateTable('environments').set({ state: 'stopped' }).execute(),
    )
    expect(reply?.body.state).toBe('stopped')
    expect(await place.runner.request()).toBeUndefined()
  })

  test('is stopped by Developers, and not by those who only report', async () => {
    const { at } = await deployed(stopped())
    const statuses = []
    for (const by of [world.nobody, rep]) statuses.push((await by.post(`${at}/stop`)).status)
    expect(statuses).toEqual([404, 403])
    expect((await dev.post(`${at}/stop`, { force: true })).body.state).toBe('stopped')
  })
})

describe('an environment that stops by the clock', () => {
  const inTwoDays = ', auto_stop_in: 2 days'

  test('is given time anew by each deployment, and loses it when it is stopped', async () => {
    const { place, at } = await deployed(stopped('end', inTwoDays))
    const due = async () => (await ana.get(at)).body.auto_stop_at
    expect(await due()).toBe('2026-05-06T10:00:00.000Z')
    world.setNow('2026-05-05T10:00:00.000Z')
    await startPipeline(place)
    expect(await due()).toBe('2026-05-06T10:00:00.000Z')
    await place.runner.update(await takeJob(place), 'success')
    expect(await due()).toBe('2026-05-07T10:00:00.000Z')
    await dev.post(`${at}/stop`, { force: true })
    expect(await due()).toBeNull()
    world.setNow(atFirst)
  })

  test('runs its stop job then, as whoever deployed last', async () => {
    const { place, at, state } = await deployed(stopped('end', inTwoDays))
    world.setNow('2026-05-06T09:59:00.000Z')
    await stopDue()
    expect(await state()).toBe('available')
    world.setNow('2026-05-06T10:01:00.000Z')
    await stopDue()
    expect(await state()).toBe('stopping')
    const end = await takeJob(place)
    const { body } = await ana.get(`${place.path}/jobs/${end.id}`)
    expect([body.name, body.user.username]).toEqual(['end', 'dev'])
    await place.runner.update(end, 'success')
    expect((await ana.get(at)).body).toMatchObject({ state: 'stopped', auto_stop_at: null })
    world.setNow(atFirst)
  })

  test('counts as stopped without a stop job, unless it wants one', async () => {
    const yaml = 'ship: {script: make, environment: {name: live, auto_stop_in: 1 hour}}'
    const always = await deployed(yaml)
    const withAction = await deployed(yaml)
    await dev.put(withAction.at, { auto_stop_setting: 'with_action' })
    world.setNow('2026-05-04T11:01:00.000Z')
    await stopDue()
    expect([await always.state(), await withAction.state()]).toEqual(['stopped', 'available'])
    expect((await ana.get(withAction.at)).body.auto_stop_at).toBeNull()
    world.setNow(atFirst)
  })
})

describe('stale environments', () => {
  test('are stopped together by whoever may, those alone that nothing was deployed to lately', async () => {
    const place = await newPlace('x: {script: make}')
    for (const name of ['old', 'new', 'guarded', 'ended']) {
      await dev.post(`${place.path}/environments`, { name })
    }
    await ana.post(`${place.path}/protected_environments`, {
      name: 'guarded',
      deploy_access_levels: [{ access_level: 30 }],
    })
    world.setNow('2026-05-20T10:00:00.000Z')
    const sha = place.project.git('rev-parse', 'main')
    const noted = { environment: 'new', sha, ref: 'main', tag: false, status: 'success' }
    await dev.post(`${place.path}/deployments`, noted)
    const at = `${place.path}/environments/stop_stale`
    const ask = (before: string, by = dev) => by.post(at, { before })
    expect((await ask('2026-05-10T00:00:00Z', rep)).status).toBe(403)
    expect((await ask('2026-05-13T10:00:01Z')).body).toEqual({
      message: '400 Bad request - Invalid Date',
    })
    expect((await ask('yesterday')).body).toEqual({ error: 'before is invalid' })
    const done = await ask('2026-05-10T00:00:00Z')
    expect([done.status, done.body]).toEqual([
      200,
      { message: 'Successfully requested stop for all stale environments' },
    ])
    const states: Record<string, string> = {}
    const { body } = await dev.get(`${place.path}/environments`)
    for (const { name, state } of body as Environment[]) states[name] = state
    expect(states).toEqual({
      old: 'stopped',
      ended: 'stopped',
      new: 'available',
      guarded: 'available',
    })
    world.setNow(atFirst)
  })
})

describe('stopped review apps', () => {
  async function reviewed() {
    const place = await newPlace('x: {script: make}')
    const ids: Record<string, number> = {}
    for (const name of ['review/a', 'review/b', 'review/c', 'review/open', 'other/d']) {
      const { body } = await dev.post(`${place.path}/environments`, { name })
      ids[name] = body.id
      if (name !== 'review/open') await dev.post(`${place.path}/environments/${body.id}/stop`)
    }
    world.setNow('2026-06-10T10:00:00.000Z')
    const remove = async (query = '', by = ana) => {
      const reply = await by.delete(`${place.path}/environments/review_apps${query}`)
      const names = (list: readonly { name: string }[] = []) => list.map(({ name }) => name)
      return [
        reply.status,
        names(reply.body.scheduled_entries),
        names(reply.body.unprocessable_entries),
      ]
    }
    const left = async () =>
      (await dev.get(`${place.path}/environments`)).body.map((one: Environment) => one.name)
    return { place, remove, left, ids }
  }

  test('are named first, and deleted only when that is asked for', async () => {
    const { remove, left } = await reviewed()
    const all = ['review/a', 'review/b', 'review/c']
    expect(await remove()).toEqual([200, all, []])
    expect(await remove('?limit=2')).toEqual([200, all.slice(0, 2), []])
    expect(await remove('?before=2026-05-04T00:00:00Z')).toEqual([200, [], []])
    expect(await left()).toHaveLength(5)
    const first = () => remove('?dry_run=false&limit=1')
    expect(await atOnce(world, [first, first])).toEqual([
      [200, ['review/a'], []],
      [200, [], ['review/a']],
    ])
    expect(await remove('?dry_run=false')).toEqual([200, ['review/b', 'review/c'], []])
    expect((await left()).sort()).toEqual(['other/d', 'review/open'])
    expect((await remove('?limit=0'))[0]).toBe(400)
    expect((await remove('?limit=1001'))[0]).toBe(400)
    world.setNow(atFirst)
  })

  test('are deleted by Maintainers, protected ones by whom they name', async () => {
    const { place, remove, left } = await reviewed()
    expect((await remove('?dry_run=false', dev))[0]).toBe(403)
    await ana.post(`${place.path}/protected_environments`, {
      name: 'review/b',
      deploy_access_levels: [{ user_id: dev.id }],
    })
    const shown = [200, ['review/a', 'review/c'], ['review/b']]
    expect(await remove()).toEqual(shown)
    expect(await remove('?dry_run=false')).toEqual(shown)
    expect((await left()).sort()).toEqual(['other/d', 'review/b', 'review/open'])
    world.setNow(atFirst)
  })

  test('are a month old unless another time is said', async () => {
    const { remove } = await reviewed()
    world.setNow('2026-06-03T09:59:59.000Z')
    expect(await remove()).toEqual([200, [], []])
    world.setNow('2026-06-03T10:00:01.000Z')
    expect((await remove())[1]).toHaveLength(3)
    world.setNow(atFirst)
  })
})

test('two jobs that name one new environment at the same time make it once', async () => {
  const place = await newPlace(
    'a: {script: make, environment: live}\nb: {script: make, environment: live}',
  )
  const sha = place.project.git('rev-parse', 'main')
  const noted = { environment: 'noted', sha, ref: 'main', tag: false, status: 'success' }
  const replies = await Promise.all([
    ...Array.from({ length: 4 }, () => dev.post(`${place.path}/deployments`, noted)),
    startPipeline(place),
    startPipeline(place),
  ])
  const made = replies.slice(0, 4) as readonly { status: number; body: { iid: number } }[]
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  const { body } = await ana.get(`${place.path}/environments`)
  expect(body.map((one: Environment) => one.name)).toEqual(['live', 'noted'])
  const deployments = (await ana.get(`${place.path}/deployments?order_by=iid`)).body
  expect(deployments.map((one: { iid: number }) => one.iid)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
})
