import { once } from 'node:events'
import { existsSync, truncateSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { endStaleJobs } from '../../../src/ci/job-ends/tasks.ts'
import { MOST_TRACE_BYTES } from '../../../src/ci/traces/append-trace.ts'
import { tracePath } from '../../../src/ci/traces/trace-file.ts'
import { addCiPlace, type CiPlace, startJob } from '../../support/ci.ts'
import type { GivenJob } from '../../support/runner.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
const rep = useCaller(world, 'rep')
const guest = useCaller(world, 'guest')
let place: CiPlace

beforeAll(async () => {
  place = await addCiPlace(world, ana, 'x: {script: make, retry: 2}', {
    members: [
      [dev, 30],
      [rep, 20],
      [guest, 10],
    ],
  })
})

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** Sends a piece of log with the headers that are given. */
function patch(job: GivenJob, text: string, headers: Record<string, string>, query = '') {
  return place.runner.call('PATCH', `/jobs/${job.id}/trace${query}`, bytesOf(text), {
    'Content-Type': 'text/plain',
    ...headers,
  })
}

const trace = async (at: string, by = dev) => (await by.get(`${at}/trace`)).body

describe('a piece of log', () => {
  test.each([
    ['0-4', 202],
    ['0-0', 202],
    ['0-99999', 202],
    ['0-', 202],
    ['bytes 0-4/5', 202],
    ['bytes 0-4', 202],
    ['1-5', 416],
    ['999999999999999-0', 416],
    ['9999999999999999-0', 400],
    ['-5', 400],
    ['0', 400],
    ['a-b', 400],
    ['0x0-4', 400],
    ['', 400],
  ])('with the range %j is answered %i', async (range, status) => {
    const { job, at } = await startJob(place)
    const reply = await patch(job, 'hello', { 'Content-Range': range, 'JOB-TOKEN': job.token })
    expect(reply.status).toBe(status)
    if (status === 416) {
      expect(reply.body).toEqual({ message: '416 Range Not Satisfiable' })
      expect(reply.headers.get('range')).toBe('0-0')
    }
    if (status === 400) expect(reply.body.message).toMatch(/^400 Bad request - .*Content-Range$/)
    if (status === 202) {
      expect(reply.headers.get('range')).toBe('0-5')
      expect(reply.headers.get('job-status')).toBe('running')
      expect(reply.headers.get('x-svc-trace-update-interval')).toBe('60')
    }
    expect(await trace(at)).toBe(status === 202 ? 'hello' : '')
    await place.runner.update(job, 'success')
  })

  test('is taken with a token in the query or a header, and with no other', async () => {
    const { job, at } = await startJob(place)
    const range = { 'Content-Range': '0-0' }
    for (const headers of [
      {},
      { 'JOB-TOKEN': place.runner.token },
      { 'RUNNER-TOKEN': job.token },
      { 'PRIVATE-TOKEN': ana.token ?? '' },
    ]) {
      const refused = await patch(job, 'x', { ...range, ...headers })
      expect([refused.status, refused.body]).toEqual([403, { message: '403 Forbidden' }])
    }
    expect((await patch(job, 'a', range, `?token=${job.token}`)).status).toBe(202)
    const next = { 'Content-Range': '1-1', 'JOB-TOKEN': job.token }
    expect((await patch(job, 'b', next)).status).toBe(202)
    expect(await trace(at)).toBe('ab')
    await place.runner.update(job, 'success')
  })

  test('is not taken for another job, however its token runs', async () => {
    const one = await startJob(place)
    const two = await startJob(place)
    const crossed = { id: two.job.id, token: one.job.token }
    expect((await place.runner.append(crossed, 0, 'x')).status).toBe(403)
    expect(await trace(two.at)).toBe('')
    for (const { job } of [one, two]) await place.runner.update(job, 'success')
  })

  test('that is sent twice at the same time is kept once', async () => {
    const { job, at } = await startJob(place)
    const send = () => place.runner.append(job, 0, 'once\n')
    const replies = await Promise.all([send(), send(), send()])
    expect(replies.map(({ status }) => status).sort()).toEqual([202, 416, 416])
    expect(replies.map(({ headers }) => headers.get('range'))).toEqual(['0-5', '0-5', '0-5'])
    expect(await trace(at)).toBe('once\n')
    await place.runner.update(job, 'success')
  })

  test('answers the runner that the job is being canceled, and is still accepted', async () => {
    const { job, at } = await startJob(place)
    await dev.post(`${at}/cancel`)
    const accepted = await place.runner.append(job, 0, 'cleaning\n')
    expect([accepted.status, accepted.headers.get('job-status')]).toEqual([202, 'canceling'])
    await place.runner.update(job, 'failed')
    const late = await place.runner.append(job, 9, 'too late\n')
    expect([late.status, late.headers.get('job-status')]).toEqual([403, 'canceled'])
    await world.runTasks()
    expect(await trace(at)).toBe('cleaning\n')
  })

  test('of more than sixteen mebibytes is refused, and nothing of it kept', async () => {
    const { job, at } = await startJob(place)
    const large = new Uint8Array(16 * 1024 * 1024 + 1).fill(0x61)
    const headers = { 'Content-Range': '0-1', 'JOB-TOKEN': job.token }
    const path = `/jobs/${job.id}/trace`
    expect((await place.runner.call('PATCH', path, large, headers)).status).toBe(413)
    expect(await trace(at)).toBe('')
    const most = await place.runner.call('PATCH', path, large.subarray(1), headers)
    expect([most.status, most.headers.get('range')]).toEqual([202, `0-${large.length - 1}`])
    await place.runner.update(job, 'success')
  })

  test('that makes the log too long ends the job, and it is not run again', async () => {
    const { job, at, pipeline } = await startJob(place)
    await place.runner.append(job, 0, 'x')
    const size = MOST_TRACE_BYTES - 3
    truncateSync(tracePath(world.ctx.config, job.id), size)
    await world.ctx.db
      .updateTable('ci_traces')
      .set({ size, shown: size })
      .where('job_id', '=', job.id)
      .execute()
    expect((await place.runner.append(job, size, 'end')).status).toBe(202)
    const refused = await place.runner.append(job, MOST_TRACE_BYTES, '!')
    expect([refused.status, refused.body]).toEqual([
      403,
      { message: '403 Forbidden - Job log is too large' },
    ])
    expect((await dev.get(at)).body.failure_reason).toBe('trace_size_exceeded')
    expect((await ana.get(`${place.path}/pipelines/${pipeline}`)).body.status).toBe('failed')
    expect(await place.runner.request()).toBeUndefined()
    await dev.post(`${at}/erase`)
  })

  test('may hold any bytes, and sections stay as they are', async () => {
    const { job, at } = await startJob(place)
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    const section = '\u001b[0Ksection_start:1560896352:my_first[collapsed=true]\r\u001b[0KHead\n'
    const sent = Buffer.concat([all, Buffer.from(section)])
    const headers = { 'Content-Range': `0-${sent.length - 1}`, 'JOB-TOKEN': job.token }
    await place.runner.call('PATCH', `/jobs/${job.id}/trace`, new Uint8Array(sent), headers)
    const read = async () => {
      const response = await fetch(`${world.url}/api/v4${at}/trace`, {
        headers: { 'PRIVATE-TOKEN': dev.token ?? '' },
      })
      return Buffer.from(await response.arrayBuffer())
    }
    expect(await read()).toEqual(sent)
    await place.runner.update(job, 'success')
    await world.runTasks()
    expect(await read()).toEqual(sent)
  })

  test('whose bytes come only after the end of its job changes nothing', async () => {
    const { job, at } = await startJob(place)
    await place.runner.append(job, 0, 'first\n')
    const slow = httpRequest(`${world.url}/api/v4/jobs/${job.id}/trace`, {
      method: 'PATCH',
      headers: { 'Content-Range': '0-9', 'JOB-TOKEN': job.token, 'Content-Length': '10' },
    })
    slow.write('slow ')
    // The server has its head when another call that came later is answered.
    await place.runner.append(job, 6, 'second\n')
    await place.runner.update(job, 'success')
    await world.runTasks()
    const answer = once(slow, 'response')
    slow.end('piece')
    const [response] = await answer
    response.resume()
    expect([response.statusCode, response.headers['job-status']]).toEqual([403, 'success'])
    expect(await trace(at)).toBe('first\nsecond\n')
    expect(existsSync(tracePath(world.ctx.config, job.id))).toBe(false)
  })
})

describe('a log whose end was lost with the power', () => {
  test('goes on where the file ends, and its end is taken', async () => {
    const { job, at } = await startJob(place)
    await place.runner.append(job, 0, 'kept lost')
    truncateSync(tracePath(world.ctx.config, job.id), 5)
    const refused = await place.runner.append(job, 9, '!')
    expect([refused.status, refused.headers.get('range')]).toEqual([416, '0-5'])
    expect((await place.runner.append(job, 5, 'again')).headers.get('range')).toBe('0-10')
    // Nobody knows the checksum of what was there any more: the length decides.
    const output = { checksum: 'crc32:12345678', bytesize: 10 }
    expect((await place.runner.update(job, 'success', { output })).status).toBe(200)
    await world.runTasks()
    expect(await trace(at)).toBe('kept again')
  })

  test('is put away later when its task was lost', async () => {
    const { job, at } = await startJob(place)
    await place.runner.append(job, 0, 'left behind\n')
    // The job ends as after a crash that took the task with it.
    const { db } = world.ctx
    await db.updateTable('ci_jobs').set({ status: 'success' }).where('id', '=', job.id).execute()
    await db.deleteFrom('ci_running_jobs').where('job_id', '=', job.id).execute()
    const path = tracePath(world.ctx.config, job.id)
    await world.runTasks()
    expect(existsSync(path)).toBe(true)
    world.setNow('2026-05-04T10:11:00.000Z')
    await endStaleJobs.handler(world.ctx, {}, new AbortController().signal)
    await world.runTasks()
    expect(existsSync(path)).toBe(false)
    expect(await trace(at)).toBe('left behind\n')
    world.setNow('2026-05-04T10:00:00.000Z')
  })
})

test('the log of a job that was deleted while it ran is removed', async () => {
  const { job, pipeline } = await startJob(place)
  await place.runner.append(job, 0, 'left behind\n')
  const path = tracePath(world.ctx.config, job.id)
  const other = await startJob(place)
  await place.runner.append(other.job, 0, 'goes on\n')
  expect((await ana.delete(`${place.path}/pipelines/${pipeline}`)).status).toBe(204)
  expect(existsSync(path)).toBe(true)
  await endStaleJobs.handler(world.ctx, {}, new AbortController().signal)
  expect(existsSync(path)).toBe(false)
  expect(existsSync(tracePath(world.ctx.config, other.job.id))).toBe(true)
})

test('a masked value that repeats itself is found in a log that does nothing else', async () => {
  const value = 'a'.repeat(10_000)
  const variable = { key: 'LONG', value, masked: true, raw: true }
  await ana.post(`${place.path}/variables`, variable)
  const { job, at } = await startJob(place)
  await ana.delete(`${place.path}/variables/LONG`)
  const begun = performance.now()
  expect((await place.runner.append(job, 0, `${'a'.repeat(1_000_000)}b`)).status).toBe(202)
  // It took a quarter of a minute, in which the server did nothing else.
  expect(performance.now() - begun).toBeLessThan(5000)
  expect(await trace(at)).toBe(`${'*'.repeat(1_000_000)}b`)
}, 60_000)

describe('whoever reads a log', () => {
  test('gets it as text, in parts, by its head, and not again while it is the same', async () => {
    const { job, at } = await startJob(place)
    const empty = await dev.get(`${at}/trace`)
    expect([empty.status, empty.body]).toEqual([200, ''])
    await place.runner.append(job, 0, 'abcdefghij')
    const whole = await dev.get(`${at}/trace`)
    expect(whole.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(whole.headers.get('content-disposition')).toBe(`infile; filename="${job.id}.log"`)
    const part = async (Range: string) => {
      const { status, body, headers } = await dev.get(`${at}/trace`, { headers: { Range } })
      return [status, body, headers.get('content-range')]
    }
    expect(await part('bytes=2-4')).toEqual([206, 'cde', 'bytes 2-4/10'])
    expect(await part('bytes=7-')).toEqual([206, 'hij', 'bytes 7-9/10'])
    expect(await part('bytes=-2')).toEqual([206, 'ij', 'bytes 8-9/10'])
    expect((await part('bytes=10-'))[0]).toBe(416)
    const head = await dev.head(`${at}/trace`)
    expect([head.status, head.body, head.headers.get('content-length')]).toEqual([200, '', '10'])
    const known = { 'If-None-Match': whole.headers.get('etag') ?? '' }
    expect((await dev.get(`${at}/trace`, { headers: known })).status).toBe(304)
    await place.runner.append(job, 10, '!')
    expect((await dev.get(`${at}/trace`, { headers: known })).body).toBe('abcdefghij!')
    await place.runner.update(job, 'success')
  })

  test('is a Reporter, or anybody who sees the project while its jobs are public', async () => {
    const { job, at } = await startJob(place)
    await place.runner.finish(job, 'success', 'log\n')
    const eve = await world.user('eve')
    const all = async () => {
      const callers = [ana, dev, rep, guest, eve, world.nobody]
      const replies = await Promise.all(callers.map((by) => by.get(`${at}/trace`)))
      return replies.map(({ status }) => status)
    }
    expect(await all()).toEqual([200, 200, 200, 200, 404, 401])
    await ana.put(place.path, { public_jobs: false })
    expect(await all()).toEqual([200, 200, 200, 403, 404, 401])
    await ana.put(place.path, { visibility: 'public' })
    expect(await all()).toEqual([200, 200, 200, 403, 403, 401])
    await ana.put(place.path, { public_jobs: true })
    expect(await all()).toEqual([200, 200, 200, 200, 200, 401])
    await ana.put(place.path, { builds_access_level: 'private' })
    expect(await all()).toEqual([200, 200, 200, 200, 403, 401])
    await ana.put(place.path, { visibility: 'private', builds_access_level: 'enabled' })
    const other = await addCiPlace(world, ana, 'x: {script: make}')
    expect((await ana.get(`${other.path}/jobs/${job.id}/trace`)).status).toBe(404)
  })

  test('needs to run pipelines for one with CI_DEBUG_TRACE, from its first such piece on', async () => {
    const { job, at } = await startJob(place)
    const send = (start: number, text: string, debug: boolean) =>
      patch(
        job,
        text,
        { 'Content-Range': `${start}-`, 'JOB-TOKEN': job.token },
        `?debug_trace=${debug}`,
      )
    await send(0, 'plain\n', false)
    expect(await trace(at, rep)).toBe('plain\n')
    await send(6, '+ export SECRET=1\n', true)
    expect((await rep.get(`${at}/trace`)).status).toBe(403)
    expect((await rep.get(`${at}/trace/events`)).status).toBe(403)
    await send(24, 'plain again\n', false)
    await place.runner.update(job, 'success')
    await world.runTasks()
    expect((await rep.get(`${at}/trace`)).status).toBe(403)
    expect((await guest.get(`${at}/trace`)).status).toBe(403)
    expect(await trace(at)).toBe('plain\n+ export SECRET=1\nplain again\n')
  })
})

describe('a log and the artifacts with it are erased', () => {
  const ended = async (by: Caller) => {
    const { job, at } = await startJob(place, { by })
    await place.runner.upload(job, bytesOf('archive'))
    await place.runner.finish(job, 'success', 'log\n')
    await world.runTasks()
    return at
  }

  test('by whoever started the job, and by Maintainers', async () => {
    const ofDev = await ended(dev)
    const ofAna = await ended(ana)
    for (const by of [rep, guest]) expect((await by.post(`${ofDev}/erase`)).status).toBe(403)
    expect((await world.nobody.post(`${ofDev}/erase`)).status).toBe(404)
    expect((await dev.post(`${ofAna}/erase`)).status).toBe(403)
    expect((await dev.post(`${ofDev}/erase`)).status).toBe(201)
    const erased = await ana.post(`${ofAna}/erase`)
    expect(erased.body).toMatchObject({ erased_at: world.ctx.now(), artifacts: [] })
    for (const at of [ofDev, ofAna]) {
      expect(await trace(at)).toBe('')
      expect((await dev.get(`${at}/artifacts`)).status).toBe(404)
    }
  })

  test('by a Developer only on refs where they may run pipelines', async () => {
    const at = await ended(dev)
    const guarded = await ana.post(`${place.path}/protected_branches`, {
      name: 'main',
      push_access_level: 40,
      merge_access_level: 40,
    })
    expect(guarded.status).toBe(201)
    expect((await dev.post(`${at}/erase`)).status).toBe(403)
    await ana.delete(`${place.path}/protected_branches/main`)
    expect((await dev.post(`${at}/erase`)).status).toBe(201)
  })

  test('once, when the job has ended', async () => {
    const { job, at } = await startJob(place)
    const refused = { message: '403 Forbidden - Job is not erasable!' }
    const erase = async () => {
      const { status, body } = await ana.post(`${at}/erase`)
      return [status, body]
    }
    expect(await erase()).toEqual([403, refused])
    await ana.post(`${at}/cancel`)
    expect(await erase()).toEqual([403, refused])
    await place.runner.finish(job, 'success', 'log\n')
    expect((await erase())[0]).toBe(201)
    expect(await erase()).toEqual([403, refused])
    // The task behind the end of the job finds nothing to put away any more.
    await world.runTasks()
    expect(await trace(at)).toBe('')
  })
})
