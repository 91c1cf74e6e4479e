import { crc32 } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { endStaleJobs } from '../../../src/ci/job-ends/tasks.ts'
import {
  addCiPlace,
  type CiPlace,
  jobsByName,
  startJob,
  startPipeline,
  takeJob,
} from '../../support/ci.ts'
import type { GivenJob, TestRunner } from '../../support/runner.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let place: CiPlace

const atFirst = '2026-05-04T10:00:00.000Z'

beforeAll(async () => {
  place = await addCiPlace(world, ana, 'x: {script: make}', { members: [[dev, 30]] })
})

const statusOf = async (at: string) => {
  const { body } = await ana.get(at)
  return body.failure_reason ? `${body.status} ${body.failure_reason}` : body.status
}

const stale = () => endStaleJobs.handler(world.ctx, {}, new AbortController().signal)

const sum = (text: string) => `crc32:${crc32(text).toString(16).padStart(8, '0')}`

async function clear({ runner }: CiPlace) {
  for (let job = await runner.request(); job; job = await runner.request()) {
    await runner.finish(job, 'success')
  }
}

describe('the end that a runner reports', () => {
  test.each([
    [{ failure_reason: 'script_failure', exit_code: 3 }, 'script_failure'],
    [{ failure_reason: 'runner_system_failure' }, 'runner_system_failure'],
    [{ failure_reason: 'job_execution_timeout' }, 'job_execution_timeout'],
    [{ failure_reason: 'image_pull_failure' }, 'image_pull_failure'],
    [{ failure_reason: 'runner_interrupted' }, 'runner_interrupted'],
    [{ failure_reason: 'unknown_failure' }, 'unknown_failure'],
    // What nobody knows is unknown; what is not said was the script.
    [{ failure_reason: 'cosmic_rays' }, 'unknown_failure'],
    [{ failure_reason: 'archived_failure' }, 'unknown_failure'],
    [{ failure_reason: '' }, 'script_failure'],
    [{}, 'script_failure'],
  ])('with %j is kept as %s', async (more, reason) => {
    const { job, at } = await startJob(place)
    expect((await place.runner.update(job, 'failed', more)).status).toBe(200)
    expect(await statusOf(at)).toBe(`failed ${reason}`)
  })

  test('is answered with the number of its status and what the job is by now', async () => {
    const { job, at } = await startJob(place)
    const alive = await place.runner.update(job, 'running')
    expect([alive.status, alive.body]).toEqual([200, 200])
    expect(alive.headers.get('job-status')).toBe('running')
    expect(alive.headers.get('x-svc-trace-update-interval')).toBe('60')
    await dev.get(`${at}/trace`)
    const watched = await place.runner.update(job, 'running')
    expect(watched.headers.get('x-svc-trace-update-interval')).toBe('3')
    const ended = await place.runner.update(job, 'success')
    expect([ended.status, ended.headers.get('job-status')]).toEqual([200, 'success'])
    const late = await place.runner.update(job, 'failed')
    expect([late.status, late.headers.get('job-status')]).toEqual([403, 'success'])
    expect(late.body.message).toContain('403 Forbidden')
    expect(await statusOf(at)).toBe('success')
  })

  test.each([
    [{ state: 'canceled' }, 'state does not have a valid value'],
    [{ state: '' }, 'state does not have a valid value'],
    [{ state: ['failed'] }, 'state does not have a valid value'],
    [{ exit_code: 'one' }, 'exit_code is invalid'],
    [{ checksum: 'md5:abc' }, 'checksum is invalid'],
    [{ output: { checksum: 'crc32:xyz' } }, 'checksum is invalid'],
    [{ failure_reason: 'x'.repeat(256) }, 'failure_reason is too long (maximum is 255 characters)'],
  ])('is refused as %j, and the job runs on', async (body, error) => {
    const { job, at } = await startJob(place)
    const refused = await place.runner.call('PUT', `/jobs/${job.id}`, {
      token: job.token,
      state: 'success',
      ...body,
    })
    expect([refused.status, refused.body]).toEqual([400, { error }])
    expect(await statusOf(at)).toBe('running')
    await place.runner.update(job, 'success')
  })

  test('is taken with the token in the body, the query, a form and a header', async () => {
    const send = async (
      how: (job: GivenJob) => { query?: string; headers?: object; body?: object },
    ) => {
      const { job } = await startJob(place)
      const { query = '', headers = {}, body = {} } = how(job)
      const isForm = body instanceof URLSearchParams
      const response = await fetch(`${world.url}/api/v4/jobs/${job.id}${query}`, {
        method: 'PUT',
        headers: { ...(isForm ? {} : { 'Content-Type': 'application/json' }), ...headers },
        body: isForm ? body : JSON.stringify({ state: 'success', ...body }),
      })
      await place.runner.update(job, 'failed')
      return response.status
    }
    expect(await send(({ token }) => ({ body: { token } }))).toBe(200)
    expect(await send(({ token }) => ({ query: `?token=${token}` }))).toBe(200)
    expect(await send(({ token }) => ({ headers: { 'JOB-TOKEN': token } }))).toBe(200)
    const form = ({ token }: GivenJob) => ({
      body: new URLSearchParams({ token, state: 'success' }),
    })
    expect(await send(form)).toBe(200)
    expect(await send(() => ({}))).toBe(403)
    expect(await send(() => ({ body: { token: place.runner.token } }))).toBe(403)
    expect(await send(({ token }) => ({ headers: { 'RUNNER-TOKEN': token } }))).toBe(403)
  })

  test('of two at the same time counts once', async () => {
    const { job, at } = await startJob(place)
    const ends = await Promise.all([
      place.runner.update(job, 'success'),
      place.runner.update(job, 'failed'),
      place.runner.update(job, 'success'),
    ])
    expect(ends.map(({ status }) => status).filter((status) => status === 200)).not.toHaveLength(0)
    const [first] = ends
    expect(await statusOf(at)).toBe(first?.status === 200 ? 'success' : 'failed script_failure')
  })

  test('that comes while somebody cancels the job ends it once', async () => {
    const { job, at, pipeline } = await startJob(place)
    const [end] = await Promise.all([place.runner.update(job, 'success'), dev.post(`${at}/cancel`)])
    expect(end?.status).toBe(200)
    const status = await statusOf(at)
    expect(['success', 'canceled']).toContain(status)
    const { body } = await ana.get(`${place.path}/pipelines/${pipeline}`)
    expect(body.status).toBe(status)
  })
})

describe('the log that must be whole at the end', () => {
  test('is asked for again until its checksum and length are right', async () => {
    const { job, at } = await startJob(place)
    const { runner } = place
    await runner.append(job, 0, 'abc')
    const wrong: [object, string][] = [
      [{ output: { checksum: sum('abx'), bytesize: 3 } }, 'abc'],
      [{ output: { checksum: sum('abc'), bytesize: 4 } }, 'abc'],
      [{ checksum: sum('ab') }, 'abc'],
    ]
    for (const [output, again] of wrong) {
      const refused = await runner.update(job, 'success', output)
      expect([refused.status, refused.body]).toEqual([412, 412])
      expect(refused.headers.get('job-status')).toBe('running')
      // What came so far counts no more.
      const tooFar = await runner.append(job, again.length, 'x')
      expect([tooFar.status, tooFar.headers.get('range')]).toEqual([416, '0-0'])
      expect((await runner.append(job, 0, again)).headers.get('range')).toBe(`0-${again.length}`)
    }
    expect(await statusOf(at)).toBe('running')
    const right = { output: { checksum: sum('abc'), bytesize: 3 } }
    expect((await runner.update(job, 'success', right)).status).toBe(200)
    expect((await dev.get(`${at}/trace`)).body).toBe('abc')
  })

  test('is given up after five minutes, and the end taken without it', async () => {
    const { job, at } = await startJob(place)
    const never = { output: { checksum: sum('never came'), bytesize: 10 } }
    expect((await place.runner.update(job, 'failed', never)).status).toBe(412)
    world.setNow('2026-05-04T10:05:00.000Z')
    expect((await place.runner.update(job, 'failed', never)).status).toBe(412)
    world.setNow('2026-05-04T10:05:00.001Z')
    expect((await place.runner.update(job, 'failed', never)).status).toBe(200)
    expect(await statusOf(at)).toBe('failed script_failure')
    world.setNow(atFirst)
  })

  test('may be empty', async () => {
    const { job, at } = await startJob(place)
    const end = { output: { checksum: 'crc32:00000000', bytesize: 0 } }
    expect((await place.runner.update(job, 'success', end)).status).toBe(200)
    await world.runTasks()
    expect((await dev.get(`${at}/trace`)).body).toBe('')
  })

  test('is summed as it was sent, with the values that are masked in what is shown', async () => {
    const secret = await addCiPlace(world, ana, 'x: {script: make}')
    const value = 'hunter2hunter'
    await ana.post(`${secret.path}/variables`, { key: 'PASSWORD', value, masked: true })
    const { job, at } = await startJob(secret)
    const log = `password ${value}\n`
    expect((await secret.runner.finish(job, 'success', log)).status).toBe(200)
    await world.runTasks()
    expect((await ana.get(`${at}/trace`)).body).toBe(`password ${'*'.repeat(value.length)}\n`)
  })
})

describe('a job that failed is run again', () => {
  const config = (retry: string) => `x: {script: make, retry: ${retry}}`
  interface Case {
    readonly retry: string
    readonly end: object
    readonly runs: number
  }
  const cases: Case[] = [
    { retry: '1', end: {}, runs: 2 },
    { retry: '2', end: { failure_reason: 'runner_system_failure' }, runs: 3 },
    { retry: '0', end: {}, runs: 1 },
    { retry: '{max: 2, when: script_failure}', end: {}, runs: 3 },
    { retry: '{max: 2, when: runner_system_failure}', end: {}, runs: 1 },
    { retry: '{max: 1, when: always}', end: { failure_reason: 'unknown_failure' }, runs: 2 },
    {
      retry: '{max: 1, when: [api_failure, image_pull_failure]}',
      end: { failure_reason: 'image_pull_failure' },
      runs: 2,
    },
    {
      retry: '{max: 1, when: job_execution_timeout}',
      end: { failure_reason: 'job_execution_timeout' },
      runs: 2,
    },
    { retry: '{max: 1, exit_codes: 42}', end: { exit_code: 42 }, runs: 2 },
    { retry: '{max: 1, exit_codes: [1, 42]}', end: { exit_code: 2 }, runs: 1 },
    {
      retry: '{max: 1, when: runner_system_failure, exit_codes: 42}',
      end: { exit_code: 42 },
      runs: 2,
    },
  ]

  test('as its configuration says, by reasons and exit codes', async () => {
    const jobs = cases.map(({ retry }, index) => `job${index}: {script: make, retry: ${retry}}`)
    const many = await addCiPlace(world, ana, jobs.join('\n'))
    const pipeline = await startPipeline(many)
    const runs = cases.map(() => 0)
    for (let job = await many.runner.request(); job; job = await many.runner.request()) {
      const index = Number(job.job_info.name.slice(3))
      runs[index] = (runs[index] ?? 0) + 1
      await many.runner.update(job, 'failed', cases[index]?.end)
    }
    expect(runs.map((count, index) => [cases[index]?.retry, count])).toEqual(
      cases.map((one) => [one.retry, one.runs]),
    )
    const jobsOf = async (query: string) =>
      (await ana.get(`${many.path}/pipelines/${pipeline}/jobs?per_page=100${query}`)).body.length
    expect(await jobsOf('')).toBe(cases.length)
    expect(await jobsOf('&include_retried=true')).toBe(runs.reduce((sum, one) => sum + one, 0))
    expect((await ana.get(`${many.path}/pipelines/${pipeline}`)).body.status).toBe('failed')
  })

  test('but not when somebody cancels it, nor when it went well', async () => {
    const again = await addCiPlace(world, ana, config('2'))
    const first = await startJob(again)
    await ana.post(`${first.at}/cancel`)
    await again.runner.update(first.job, 'failed')
    expect(await statusOf(first.at)).toBe('canceled')
    expect(await again.runner.request()).toBeUndefined()
    const second = await startJob(again)
    await again.runner.update(second.job, 'success')
    expect(await again.runner.request()).toBeUndefined()
  })

  test('in the name of whoever started it, counting anew when somebody retries it', async () => {
    const again = await addCiPlace(world, ana, config('1'), { members: [[dev, 30]] })
    const { pipeline } = await startJob(again, { by: dev })
    const endAll = async () => {
      let runs = 0
      const jobs = await ana.get(`${again.path}/jobs?scope=running`)
      expect(jobs.body).toHaveLength(0)
      for (let job = await again.runner.request(); job; job = await again.runner.request()) {
        runs += 1
        await again.runner.update(job, 'failed')
      }
      return runs
    }
    const running = (await ana.get(`${again.path}/jobs?scope=running`)).body[0]
    expect(running.user.username).toBe('dev')
    await ana.post(`${again.path}/jobs/${running.id}/cancel`, { force: true })
    await ana.post(`${again.path}/jobs/${running.id}/cancel`, { force: true })
    expect(await endAll()).toBe(0)
    const retried = await ana.post(`${again.path}/jobs/${running.id}/retry`)
    expect(retried.body.user.username).toBe('ana')
    expect(await endAll()).toBe(2)
    const { body } = await ana.get(`${again.path}/pipelines/${pipeline}/jobs`)
    expect(body).toMatchObject([{ status: 'failed', user: { username: 'ana' } }])
  })
})

describe('a job whose runner goes', () => {
  test('is ended when the runner was deleted meanwhile', async () => {
    const other = await addCiPlace(world, ana, 'x: {script: make}')
    const { job, at, pipeline } = await startJob(other)
    const [{ id }] = (await ana.get(`${other.path}/runners?type=project_type`)).body
    expect((await ana.delete(`/runners/${id}`)).status).toBe(204)
    const refused = await other.runner.append(job, 0, 'x')
    expect(refused.status).toBe(403)
    await stale()
    expect(await statusOf(at)).toBe('failed runner_system_failure')
    expect((await ana.get(`${other.path}/pipelines/${pipeline}`)).body.status).toBe('failed')
  })

  test('is ended when the user who started it was deleted meanwhile', async () => {
    const gone = await world.user('gone')
    const other = await addCiPlace(world, ana, 'x: {script: make}', { members: [[gone, 30]] })
    const { at } = await startJob(other, { by: gone })
    expect((await world.root.delete(`/users/${gone.id}`)).status).toBe(204)
    await world.runTasks()
    await stale()
    expect(await statusOf(at)).toBe('failed runner_system_failure')
  })

  test('that takes two steps is put back for one that was given it but never began', async () => {
    const { runner } = place
    runner.features = { two_phase_job_commit: true }
    const lost = await startJob(place)
    world.setNow('2026-05-04T10:01:00.001Z')
    await stale()
    expect(await statusOf(lost.at)).toBe('pending')
    const again = await takeJob(place)
    expect(again.id).toBe(lost.job.id)
    // The one who comes too late has a token of nobody.
    expect((await runner.update(lost.job, 'running')).status).toBe(403)
    expect((await runner.append(lost.job, 0, 'x')).status).toBe(403)
    expect((await runner.update(again, 'running')).status).toBe(200)
    world.setNow('2026-05-04T10:03:00.000Z')
    await stale()
    expect(await statusOf(lost.at)).toBe('running')
    await runner.update(again, 'success')
    runner.features = { cancel_gracefully: true }
    world.setNow(atFirst)
  })

  test('is kept alive by an empty piece of log, and ended an hour after the last', async () => {
    const long = await addCiPlace(world, ana, 'x: {script: make, timeout: 10 hours}')
    const { job, at } = await startJob(long)
    world.setNow('2026-05-04T10:50:00.000Z')
    const kept = await long.runner.append(job, 0, '')
    expect([kept.status, kept.headers.get('range')]).toEqual([202, '0-0'])
    world.setNow('2026-05-04T11:49:59.000Z')
    await stale()
    expect(await statusOf(at)).toBe('running')
    world.setNow('2026-05-04T11:50:01.000Z')
    await stale()
    expect(await statusOf(at)).toBe('failed stuck_or_timeout_failure')
    world.setNow(atFirst)
  })

  test('is ended some minutes after its time, however much it says', async () => {
    const short = await addCiPlace(world, ana, 'x: {script: make, timeout: 20 minutes}')
    const { job, at } = await startJob(short)
    world.setNow('2026-05-04T10:24:59.000Z')
    await short.runner.append(job, 0, 'still there')
    await stale()
    expect(await statusOf(at)).toBe('running')
    world.setNow('2026-05-04T10:25:01.000Z')
    await stale()
    expect(await statusOf(at)).toBe('failed job_execution_timeout')
    world.setNow(atFirst)
  })

  test('is ended also while it is being canceled', async () => {
    const { job, at } = await startJob(place)
    await ana.post(`${at}/cancel`)
    expect(await statusOf(at)).toBe('canceling')
    world.setNow('2026-05-04T11:10:00.000Z')
    await stale()
    expect(await statusOf(at)).toBe('canceled')
    expect((await place.runner.update(job, 'success')).headers.get('job-status')).toBe('canceled')
    world.setNow(atFirst)
  })
})

describe('a job that nobody takes', () => {
  const waits = async (other: CiPlace) => {
    const pipeline = await startPipeline(other)
    return async () => {
      const { x } = await jobsByName(other, pipeline)
      return x?.failure_reason ?? x?.status
    }
  }

  test('waits a day for a runner that fits and asks, and an hour when none does', async () => {
    const fit = await addCiPlace(world, ana, 'x: {script: make}')
    const unfit = await addCiPlace(world, ana, 'x: {script: make, tags: [nowhere]}')
    const asleep = await addCiPlace(world, ana, 'x: {script: make}')
    const ask = ({ runner }: { runner: TestRunner }) => runner.ask()
    await ask(fit)
    await ask(unfit)
    const states = [await waits(fit), await waits(unfit), await waits(asleep)]
    const all = () => Promise.all(states.map((state) => state()))
    world.setNow('2026-05-04T10:59:00.000Z')
    await stale()
    expect(await all()).toEqual(['pending', 'pending', 'pending'])
    world.setNow('2026-05-04T11:01:00.000Z')
    await stale()
    const stuck = 'stuck_or_timeout_failure'
    expect(await all()).toEqual(['pending', stuck, stuck])
    world.setNow('2026-05-05T10:01:00.000Z')
    await stale()
    expect(await all()).toEqual([stuck, stuck, stuck])
    world.setNow(atFirst)
    await clear(fit)
  })
})
