import { beforeAll, describe, expect, test, vi } from 'vitest'
import { endStaleJobs } from '../../../src/ci/job-ends/tasks.ts'
import {
  addCiPlace,
  type CiPlace,
  jobsByName,
  startJob,
  startPipeline,
  takeJob,
} from '../../support/ci.ts'
import { createGroup } from '../../support/create.ts'
import { addRunner, TestRunner } from '../../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let place: CiPlace

const plain = 'x: {script: make}'
const atFirst = '2026-05-04T10:00:00.000Z'

beforeAll(async () => {
  place = await addCiPlace(world, ana, plain, { members: [[dev, 30]] })
})

/** A runner made by a call, with its id. */
async function made(by: Caller, body: object) {
  const reply = await by.post('/user/runners', body)
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return { id: reply.body.id as number, runner: new TestRunner(world.url, reply.body.token) }
}

const ofProject = (id: number) => ({ runner_type: 'project_type', project_id: id })

/** Gives back what a runner was given, so that the next test finds an empty queue. */
async function clear(runner = place.runner) {
  for (let job = await runner.request(); job; job = await runner.request()) {
    await runner.finish(job, 'success')
  }
}

/** Lets a runner ask, and waits until the server holds its request. */
async function held({ id, runner }: Awaited<ReturnType<typeof made>>) {
  await runner.ask()
  world.setNow('2026-05-04T10:05:00.000Z')
  const waiting = runner.ask({ last_update: runner.lastUpdate })
  await vi.waitFor(async () => {
    const { body } = await ana.get(`/runners/${id}`)
    expect(body.contacted_at).toBe('2026-05-04T10:05:00.000Z')
  }, 10_000)
  world.setNow(atFirst)
  return { waiting }
}

describe('the token of a runner', () => {
  const ask = (headers: Record<string, string>, body: object | URLSearchParams, query = '') =>
    fetch(`${world.url}/api/v4/jobs/request${query}`, {
      method: 'POST',
      headers: {
        ...(body instanceof URLSearchParams ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body instanceof URLSearchParams ? body : JSON.stringify(body),
    }).then((response) => response.status)

  test('is taken from the body, a form, the query and a header of its own', async () => {
    const { token } = place.runner
    expect(await ask({}, { token })).toBe(204)
    expect(await ask({}, new URLSearchParams({ token }))).toBe(204)
    expect(await ask({}, {}, `?token=${token}`)).toBe(204)
    expect(await ask({ 'RUNNER-TOKEN': token }, {})).toBe(204)
    expect(await ask({ 'runner-token': token }, { system_id: 's_2' })).toBe(204)
  })

  test('is refused when it is that of a user, a job or nobody, and in the header of users', async () => {
    const { token } = place.runner
    for (const wrong of [ana.token ?? '', 'svcrt-', `${token}x`, token.slice(0, -1)]) {
      expect(await ask({}, { token: wrong })).toBe(403)
    }
    expect(await ask({ 'PRIVATE-TOKEN': token }, {})).toBe(400)
    const { job } = await startJob(place)
    expect(await ask({}, { token: job.token })).toBe(403)
    // What the body says goes before the header.
    expect(await ask({ 'RUNNER-TOKEN': token }, { token: 'wrong' })).toBe(403)
    await place.runner.finish(job, 'success')
  })

  test('gives no way into the API', async () => {
    const { token } = place.runner
    for (const header of ['PRIVATE-TOKEN', 'JOB-TOKEN', 'RUNNER-TOKEN']) {
      const { status } = await world.withHeader(header, token).get(place.path)
      expect([header, status]).toEqual([header, header === 'RUNNER-TOKEN' ? 404 : 401])
    }
    const bearer = await world.nobody.get('/user', {
      headers: { Authorization: `Bearer ${token}` },
    })
    expect(bearer.status).toBe(401)
  })

  test('ends when the instance lets tokens of runners expire', async () => {
    await world.root.put('/application/settings', { runner_token_expiration_interval: 7200 })
    const reply = await ana.post('/user/runners', ofProject(place.project.id))
    await world.root.put('/application/settings', { runner_token_expiration_interval: null })
    expect(reply.body.token_expires_at).toBe('2026-05-04T12:00:00.000Z')
    const runner = new TestRunner(world.url, reply.body.token)
    const verify = () => runner.call('POST', '/runners/verify', { token: runner.token })
    expect((await verify()).body).toEqual({
      id: reply.body.id,
      token: runner.token,
      token_expires_at: '2026-05-04T12:00:00.000Z',
    })
    world.setNow('2026-05-04T12:00:00.000Z')
    expect((await verify()).status).toBe(403)
    expect((await runner.ask()).status).toBe(403)
    world.setNow(atFirst)
    await ana.delete(`/runners/${reply.body.id}`)
  })

  test('that is given anew leaves the job that runs alone', async () => {
    const one = await made(ana, ofProject(place.project.id))
    await startPipeline(place)
    const job = await takeJob(one)
    const { body } = await ana.post(`/runners/${one.id}/reset_authentication_token`)
    expect((await one.runner.ask()).status).toBe(403)
    expect((await one.runner.finish(job, 'success')).status).toBe(200)
    expect((await new TestRunner(world.url, body.token).ask()).status).toBe(204)
    await ana.delete(`/runners/${one.id}`)
  })
})

describe('a runner that asks', () => {
  test('gets the version of the queue when there is no job, and sends it back to wait', async () => {
    const none = await place.runner.ask()
    expect(none.status).toBe(204)
    expect(none.body).toBe('')
    const version = none.headers.get('x-svc-last-update')
    expect(version).toMatch(/^\S+$/)
    // A version that the server does not know is answered at once.
    expect((await place.runner.ask({ last_update: 'other' })).status).toBe(204)
    const waiting = place.runner.ask({ last_update: version })
    await startPipeline(place)
    expect((await waiting).status).toBe(201)
    await clear()
  })

  test.each([
    ['is paused', { paused: true }, 204],
    ['loses the tag of the job', { tag_list: 'other' }, 204],
    ['is kept to protected refs', { access_level: 'ref_protected' }, 204],
    ['is described anew', { description: 'anew' }, 201],
  ])('and %s while it waits is given what it may have by then', async (_, change, status) => {
    const tagged = await addCiPlace(world, ana, 'x: {script: make, tags: [big]}')
    const one = await made(ana, { ...ofProject(tagged.project.id), tag_list: 'big' })
    const { waiting } = await held(one)
    expect((await ana.put(`/runners/${one.id}`, change)).status).toBe(200)
    const pipeline = await startPipeline(tagged)
    const reply = await waiting
    expect(reply.status).toBe(status)
    expect((await jobsByName(tagged, pipeline)).x?.status).toBe(
      status === 201 ? 'running' : 'pending',
    )
    await ana.delete(`/runners/${one.id}`)
  })

  test('and is deleted while it waits is refused, and the job stays for others', async () => {
    const one = await made(ana, ofProject(place.project.id))
    const { waiting } = await held(one)
    expect((await ana.delete(`/runners/${one.id}`)).status).toBe(204)
    await startPipeline(place)
    expect((await waiting).status).toBe(403)
    await clear()
  })

  test.each([
    ['info', [1, 2]],
    ['info', 'text'],
    ['info', { features: ['cancelable'], version: 7, platform: null }],
    ['info', { features: { cancelable: 'yes', image: { deep: true } } }],
    ['info', Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, at]))],
    ['session', { url: 'https://127.0.0.1', certificate: 1 }],
    ['job_age', -1],
  ])('may say any %s such as %j', async (key, value) => {
    expect((await place.runner.ask({ [key]: value })).status).toBe(204)
  })

  test.each([
    [{ system_id: 'x'.repeat(65) }, 'system_id is too long (maximum is 64 characters)'],
    [{ last_update: 'x'.repeat(256) }, 'last_update is too long (maximum is 255 characters)'],
    [{ system_id: ['a'] }, 'system_id is invalid'],
    [{ token: { a: 1 } }, 'token is invalid'],
  ])('may not say %j', async (more, error) => {
    const reply = await place.runner.ask(more)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })

  test('is shown with what it said of itself last, and each machine with its own', async () => {
    const one = await made(ana, ofProject(place.project.id))
    const info = {
      name: 'gitlab-runner',
      version: '17.1.0',
      revision: 'abc',
      platform: 'linux',
      architecture: 'amd64',
      executor: 'docker',
      features: {},
    }
    await one.runner.ask({ system_id: 's_one', info })
    world.setNow('2026-05-04T10:10:00.000Z')
    const newer = { ...info, version: '17.2.0', platform: 'windows' }
    await one.runner.ask({ system_id: 's_two', info: newer })
    const shown = (await ana.get(`/runners/${one.id}`)).body
    expect(shown).toMatchObject({
      version: '17.2.0',
      revision: 'abc',
      platform: 'windows',
      architecture: 'amd64',
      name: 'docker',
      ip_address: '127.0.0.1',
      status: 'online',
      online: true,
      contacted_at: '2026-05-04T10:10:00.000Z',
    })
    const managers = await ana.get(`/runners/${one.id}/managers`)
    expect(managers.body).toMatchObject([
      { system_id: 's_two', version: '17.2.0', contacted_at: '2026-05-04T10:10:00.000Z' },
      { system_id: 's_one', version: '17.1.0', contacted_at: atFirst, created_at: atFirst },
    ])
    // The first machine asks again: it is now the one that asked last.
    world.setNow('2026-05-04T10:20:00.000Z')
    await one.runner.ask({ system_id: 's_one', info })
    expect((await ana.get(`/runners/${one.id}`)).body).toMatchObject({
      version: '17.1.0',
      platform: 'linux',
      contacted_at: '2026-05-04T10:20:00.000Z',
    })
    expect((await ana.get(`/runners/${one.id}/managers`)).body).toHaveLength(2)
    world.setNow(atFirst)
    await ana.delete(`/runners/${one.id}`)
  })

  test('forgets one of its machines by name, and only its own', async () => {
    const one = await made(ana, ofProject(place.project.id))
    for (const system_id of ['a', 'b']) await one.runner.ask({ system_id })
    const forget = (body: object) => one.runner.call('DELETE', '/runners/managers', body)
    const { token } = one.runner
    expect((await forget({ token })).body).toEqual({ error: 'system_id is missing' })
    expect((await forget({ token: 'no', system_id: 'a' })).status).toBe(403)
    expect((await forget({ token: place.runner.token, system_id: 'a' })).status).toBe(404)
    expect((await forget({ token, system_id: 'a' })).status).toBe(204)
    expect((await forget({ token, system_id: 'a' })).status).toBe(404)
    const { body } = await ana.get(`/runners/${one.id}/managers`)
    expect(body.map((each: { system_id: string }) => each.system_id)).toEqual(['b'])
    await ana.delete(`/runners/${one.id}`)
  })

  test('loses a machine that did not ask for seven days', async () => {
    const one = await made(ana, ofProject(place.project.id))
    await one.runner.ask({ system_id: 'gone' })
    const machines = async () => {
      await endStaleJobs.handler(world.ctx, {}, new AbortController().signal)
      const { body } = await ana.get(`/runners/${one.id}/managers`)
      return body.map((each: { system_id: string }) => each.system_id)
    }
    world.setNow('2026-05-11T09:59:59.000Z')
    expect(await machines()).toEqual(['gone'])
    await one.runner.ask({ system_id: 'there' })
    world.setNow('2026-05-11T10:00:00.000Z')
    expect(await machines()).toEqual(['there'])
    world.setNow(atFirst)
    await ana.delete(`/runners/${one.id}`)
  })

  test('finds no job router', async () => {
    const reply = await place.runner.call('GET', '/runners/router/discovery')
    expect([reply.status, reply.body]).toEqual([404, { message: '404 Not found' }])
  })
})

describe('waiting jobs', () => {
  test('are given the oldest first', async () => {
    const first = await startPipeline(place)
    const second = await startPipeline(place)
    const order = [await takeJob(place), await takeJob(place)]
    expect(order.map((job) => job.job_info.pipeline_id)).toEqual([first, second])
    for (const job of order) await place.runner.finish(job, 'success')
  })

  test('are each given once, however many runners ask at the same time', async () => {
    const many = await addCiPlace(world, ana, 'x: {script: make, parallel: 8}')
    await startPipeline(many)
    const runners = await Promise.all(
      Array.from({ length: 4 }, () => addRunner(world, ana, many.project.id)),
    )
    const asked = await Promise.all(
      [...runners, ...runners, ...runners].map((runner) => runner.ask()),
    )
    const given = asked.filter(({ status }) => status === 201).map(({ body }) => body.id)
    expect(given).toHaveLength(8)
    expect(new Set(given).size).toBe(8)
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([201, 204]))
  })

  test('of the project with the fewest running ones go to a shared runner first', async () => {
    const shared = await made(world.root, { runner_type: 'instance_type' })
    const busy = await addCiPlace(world, ana, 'x: {script: make, parallel: 3}')
    const idle = await addCiPlace(world, ana, plain)
    await startPipeline(busy)
    await startPipeline(idle)
    const jobs = [await takeJob(shared), await takeJob(shared), await takeJob(shared)]
    expect(jobs.map((job) => job.job_info.project_id)).toEqual([
      busy.project.id,
      idle.project.id,
      busy.project.id,
    ])
    // Counted before the job itself runs, as text.
    expect(jobs.map((job) => job.job_info.project_jobs_running_on_instance_runners_count)).toEqual([
      '0',
      '0',
      '1',
    ])
    for (const job of jobs) await shared.runner.finish(job, 'success')
    await clear(shared.runner)
    await world.root.delete(`/runners/${shared.id}`)
  })

  test('go to a runner of their group and of the groups above, and to no other', async () => {
    const top = await createGroup(ana, 'top')
    const sub = await createGroup(ana, 'sub', { parent_id: top.id })
    const other = await createGroup(ana, 'other')
    const runners = {
      top: await made(ana, { runner_type: 'group_type', group_id: top.id }),
      sub: await made(ana, { runner_type: 'group_type', group_id: sub.id }),
      other: await made(ana, { runner_type: 'group_type', group_id: other.id }),
    }
    const inside = await addCiPlace(world, ana, plain)
    const given = async (runner: keyof typeof runners) => {
      const pipeline = await startPipeline(inside)
      const job = await runners[runner].runner.request()
      if (job) await runners[runner].runner.finish(job, 'success')
      else await ana.post(`${inside.path}/pipelines/${pipeline}/cancel`)
      return job !== undefined
    }
    await ana.put(`${inside.path}/transfer`, { namespace: sub.id })
    expect([await given('top'), await given('sub'), await given('other')]).toEqual([
      true,
      true,
      false,
    ])
    await ana.put(`${inside.path}/transfer`, { namespace: top.id })
    expect([await given('top'), await given('sub')]).toEqual([true, false])
    await ana.put(`${inside.path}/transfer`, { namespace: other.id })
    expect([await given('top'), await given('other')]).toEqual([false, true])
  })

  test.each([
    ['is archived', (path: string) => ana.post(`${path}/archive`)],
    ['is to be deleted', (path: string) => ana.delete(path)],
    [
      'has no pipelines any more',
      (path: string) => ana.put(path, { builds_access_level: 'disabled' }),
    ],
  ])('of a project that %s are given to nobody', async (_, change) => {
    const other = await addCiPlace(world, ana, plain)
    await startPipeline(other)
    expect((await change(other.path)).status).toBeLessThan(300)
    expect((await other.runner.ask()).status).not.toBe(201)
  })

  test('with odd tags go to the runner that has every one of them', async () => {
    const tags = ['A', 'a b', `q'"`, 'ümläut']
    const odd = await addCiPlace(world, ana, `x: {script: make, tags: ${JSON.stringify(tags)}}`)
    const without = await addRunner(world, ana, odd.project.id, {
      tag_list: ['a', ...tags.slice(1)],
    })
    const having = await addRunner(world, ana, odd.project.id, { tag_list: [...tags, 'more'] })
    await startPipeline(odd)
    expect(await without.request()).toBeUndefined()
    expect((await having.request())?.job_info.name).toBe('x')
  })

  test('of a user who was blocked meanwhile fail, and the next one is given', async () => {
    const gone = await world.user('gone')
    const other = await addCiPlace(world, ana, plain, { members: [[gone, 30]] })
    const theirs = await startPipeline(other, { by: gone })
    const ours = await startPipeline(other)
    await world.root.post(`/users/${gone.id}/block`)
    expect((await takeJob(other)).job_info.pipeline_id).toBe(ours)
    expect((await jobsByName(other, theirs)).x).toMatchObject({
      status: 'failed',
      failure_reason: 'user_blocked',
    })
  })
})
