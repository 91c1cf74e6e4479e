import { statSync } from 'node:fs'
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGzip } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MOST_TRACE_BYTES } from '../../src/ci/traces/append-trace.ts'
import { takeSlot } from '../../src/runner/folder/slots.ts'
import type { Job } from '../../src/runner/job.ts'
import { Server } from '../../src/runner/server.ts'
import { MOST_LOG_BYTES } from '../../src/runner/trace.ts'
import { type Answer, type FakeRunner, jobOf, openFakeRunner } from './fake-server.ts'

let runner: FakeRunner

beforeAll(async () => {
  runner = await openFakeRunner()
})
beforeEach(() => {
  const { server } = runner
  server.answer = () => undefined
  server.calls.length = 0
  server.ends.length = 0
})
afterAll(() => runner.close())

/** The pieces of log that a server was sent, from where on. */
const pieces = (job: Job) =>
  runner.server.calls
    .filter(({ method, path }) => method === 'PATCH' && path.startsWith(`/jobs/${job.id}/`))
    .map(({ headers, body }) => [
      Number.parseInt(String(headers['content-range']), 10),
      body.toString(),
    ])

/** The log as it must be there at the end, by what the runner says of it. */
function expectWhole(job: Job) {
  const end = runner.server.ends.at(-1) as { output: { bytesize: number } } | undefined
  const log = runner.server.log(job.id)
  expect(Buffer.byteLength(log)).toBe(end?.output.bytesize)
  expect(log.trimEnd().endsWith('Job succeeded')).toBe(true)
  return log
}

describe('the log of a job', () => {
  test('is whole although the answer to a piece was lost on its way', async () => {
    const job = jobOf(['echo first', 'sleep 0.9', 'echo second'])
    let lost = 0
    runner.server.answer = ({ method, path, headers, body }) => {
      if (method === 'PUT') return undefined
      if (method !== 'PATCH' || lost > 0 || !path.startsWith(`/jobs/${job.id}/`)) return undefined
      lost += 1
      // The server has taken it, and its answer gets lost.
      const start = Number.parseInt(String(headers['content-range']), 10)
      expect(start).toBe(0)
      runner.server.logs.set(job.id, body)
      return 'drop'
    }
    await runner.run([job])
    expect(lost).toBe(1)
    const log = expectWhole(job)
    expect(log.split('\nfirst\n')).toHaveLength(2)
    expect(log.split('\nsecond\n')).toHaveLength(2)
    const starts = pieces(job).map(([start]) => start)
    expect(starts.slice(0, 2)).toEqual([0, 0])
  })

  test('goes on where a server says that it ends, also when that has lost some of it', async () => {
    const job = jobOf(['echo first', 'sleep 0.8', 'echo second'])
    runner.server.answer = ({ method, path, headers }) => {
      if (!path.startsWith(`/jobs/${job.id}`)) return undefined
      if (method === 'PUT') return undefined
      const log = runner.server.logs.get(job.id)
      const start = Number.parseInt(String(headers['content-range']), 10)
      if (method !== 'PATCH' || !log || start < 20 || log.length === 20) return undefined
      runner.server.logs.set(job.id, log.subarray(0, 20))
      return { status: 416, headers: { Range: '0-20' } }
    }
    await runner.run([job])
    expectWhole(job)
    expect(pieces(job).map(([start]) => start)).toContain(20)
  })

  test('is sent again from the beginning when the server says at the end that it is not whole', async () => {
    const job = jobOf(['echo all of it'])
    let refusals = 0
    runner.server.answer = ({ method, path, body }) => {
      const isEnd =
        method === 'PUT' && path === `/jobs/${job.id}` && body.includes('"state":"success"')
      if (!isEnd || refusals > 0) return undefined
      refusals += 1
      runner.server.logs.delete(job.id)
      return { status: 412 }
    }
    await runner.run([job])
    expect(refusals).toBe(1)
    expect(runner.server.ends).toHaveLength(1)
    expect(expectWhole(job)).toContain('\nall of it\n')
    const starts = pieces(job).map(([start]) => start)
    expect(starts.filter((start) => start === 0)).toHaveLength(2)
  })

  test('larger than one piece comes in pieces behind each other', async () => {
    const job = jobOf(['head -c 700000 /dev/zero | tr "\\0" x'])
    await runner.run([job])
    const sent = pieces(job)
    expect(sent.length).toBeGreaterThanOrEqual(3)
    let next = 0
    for (const [start, text] of sent) {
      expect(start).toBe(next)
      next += String(text).length
      expect(String(text).length).toBeLessThanOrEqual(256 * 1024)
    }
    expectWhole(job)
  })
})

test('a log that grows while the server is away ends where servers end it, and its job with it', async () => {
  expect(MOST_LOG_BYTES).toBe(MOST_TRACE_BYTES)
  const job = { ...jobOf(['yes']), runner_info: { timeout: 30 } }
  const log = join(runner.folder, 'builds', '0', `${job.id}.tmp`, 'trace.log')
  let most = 0
  runner.server.answer = ({ method, path }) => {
    if (!path.startsWith(`/jobs/${job.id}`)) return undefined
    const { size } = statSync(log)
    const isAway = size > most
    most = Math.max(most, size)
    if (isAway) return 'drop'
    // It need not be kept: so much would take long.
    return method === 'PATCH' ? { status: 202 } : undefined
  }
  await runner.run([job])
  expect(runner.server.ends).toMatchObject([
    { state: 'failed', failure_reason: 'trace_size_exceeded' },
  ])
  expect(most).toBe(MOST_LOG_BYTES)
  const last = runner.server.calls.filter(({ method }) => method === 'PATCH').at(-1)
  expect(last?.body.toString()).toMatch(/\ny?\nERROR: the log is longer than 104857600 bytes\n$/)
}, 60_000)

describe('the end of a job', () => {
  test('is sent until a server takes it: after faults, lost connections and "not yet"', async () => {
    const job = jobOf(['exit 3'])
    const answers: Answer[] = ['drop', { status: 202 }]
    let reports = 0
    runner.server.answer = ({ method, path, body }) => {
      const isEnd =
        method === 'PUT' && path === `/jobs/${job.id}` && body.includes('"state":"failed"')
      if (!isEnd) return undefined
      reports += 1
      return answers.shift()
    }
    await runner.run([job])
    expect(reports).toBe(3)
    expect(runner.server.ends).toMatchObject([
      { state: 'failed', failure_reason: 'script_failure', exit_code: 3 },
    ])
  })

  test.each([403, 404, 400])('is not sent again when the server answers %i', async (status) => {
    const job = jobOf(['true'])
    let reports = 0
    runner.server.answer = ({ method, path, body }) => {
      const isEnd =
        method === 'PUT' && path === `/jobs/${job.id}` && body.includes('"state":"success"')
      if (!isEnd) return undefined
      reports += 1
      return { status }
    }
    await runner.run([job])
    expect(reports).toBe(1)
  })
})

test('a runner that finds no place for a job takes none', async () => {
  const full = await openFakeRunner()
  const stop = new AbortController()
  const said: string[] = []
  const say = (text: string) => {
    said.push(text)
    if (text.startsWith('No job')) stop.abort()
  }
  try {
    await writeFile(join(full.folder, 'slots'), '')
    await full.run([jobOf(['true'])], { stop: stop.signal, say })
    expect(said.at(-1)).toMatch(/^No job: EEXIST/)
    expect(full.server.waiting).toHaveLength(1)
  } finally {
    await full.close()
  }
})

test.each([
  ['a number', () => 5],
  ['nothing', () => null],
  ['an id that leads elsewhere', (job: Job) => ({ ...job, id: '../../x' })],
  ['no project', (job: Job) => ({ ...job, job_info: undefined })],
  ['no steps', (job: Job) => ({ ...job, steps: undefined })],
  ['a need that leads elsewhere', (job: Job) => ({ ...job, dependencies: [{ id: '../x' }] })],
])('a runner that is given %s for a job goes on', async (_what, of) => {
  const said: string[] = []
  const stop = new AbortController()
  const say = (text: string) => {
    said.push(text)
    if (text.startsWith('No job')) stop.abort()
  }
  const answer = { status: 201, body: Buffer.from(JSON.stringify(of(jobOf(['true'])))) }
  runner.server.answer = ({ path }) => (path === '/jobs/request' ? answer : undefined)
  await runner.run([jobOf(['true'])], { stop: stop.signal, say })
  runner.server.waiting.length = 0
  expect(said.at(-1)).toBe('No job: the server answers with something that is no job')
  expect(runner.server.ends).toEqual([])
  // Its place is free again.
  expect(await readdir(join(runner.folder, 'slots'))).toEqual([])
})

test('a download ends with the job, however slowly the server sends', async () => {
  const slow = createServer((_, response) => response.writeHead(200).write('PK'))
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  const { port } = slow.address() as AddressInfo // it listens
  const server = new Server(`http://127.0.0.1:${port}`, { token: 'x', systemId: 'x', info: {} })
  const from = { id: 1, token: 'x' }
  const signal = AbortSignal.timeout(200)
  await expect(
    server.download(from, join(runner.folder, 'slow'), { signal, most: 10 }),
  ).rejects.toThrow()
  slow.closeAllConnections()
  slow.close()
})

describe('an answer without an end', () => {
  const MIB = 1024 * 1024
  const piece = Buffer.alloc(MIB, ' ')
  let sent = 0
  let endless: HttpServer
  let server: Server

  beforeAll(async () => {
    endless = createServer((request, response) => {
      request.resume()
      const isPacked = request.url?.endsWith('/request')
      response.writeHead(201, isPacked ? { 'Content-Encoding': 'gzip' } : {})
      const sink = isPacked ? createGzip({ level: 1 }) : response
      if (sink !== response) sink.pipe(response)
      let count = 0
      const more = () => {
        // There is an end after all, for a reader that would take all of it.
        if (count === 256) return void sink.end()
        count += 1
        sent += piece.length
        sink.write(piece, (error) => !error && setImmediate(more))
      }
      response.on('close', () => sink.destroy())
      sink.on('error', () => undefined)
      more()
    })
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
    const { port } = endless.address() as AddressInfo // it listens
    server = new Server(`http://127.0.0.1:${port}`, { token: 'x', systemId: 'x', info: {} })
  })
  beforeEach(() => {
    sent = 0
  })
  afterAll(() => {
    endless.closeAllConnections()
    endless.close()
  })

  test('is no job, however well it is packed', async () => {
    const asking = server.requestJob(new AbortController().signal)
    await expect(asking).rejects.toThrow('the server answers with more than 67108864 bytes')
  })

  test.each<[string, (job: Job) => Promise<unknown>]>([
    ['a token', () => server.verify()],
    ['a job that runs', (job) => server.touch(job)],
    ['a piece of a log', (job) => server.append(job, 0, Buffer.from('x'), false)],
    ['a file', (job) => server.upload(job, { path: '/dev/null', name: 'x' }, {})],
    [
      'a download that is none',
      (job) => {
        const { signal } = new AbortController()
        return server.download(job, join(runner.folder, 'none'), { signal, most: 10 })
      },
    ],
  ])('to %s is not waited for', async (_what, ask) => {
    await ask(jobOf([]))
    expect(sent).toBeLessThan(32 * MIB)
  })
})

test('a place that cannot be written is not taken for one that others have', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'slots-'))
  // A folder in which nobody may make a file, root included.
  await symlink('/proc/self', join(folder, 'slots'))
  await expect(takeSlot(folder)).rejects.toThrow(/ENOENT|EACCES/)
  await rm(folder, { recursive: true })
})

test('a runner asks again after it lost a race for a job, and says what it has seen', async () => {
  const job = jobOf(['true'])
  const answers: Answer[] = [
    { status: 409 },
    { status: 204, headers: { 'X-Svc-Last-Update': 'seen-7' } },
  ]
  runner.server.answer = ({ path }) => (path === '/jobs/request' ? answers.shift() : undefined)
  await runner.run([job])
  const asked = runner.server.calls
    .filter(({ path }) => path === '/jobs/request')
    .map(({ body, headers }) => [JSON.parse(body.toString()), headers['runner-token']])
  expect(asked.map(([body]) => body.last_update)).toEqual(['', '', 'seen-7'])
  expect(asked[0]).toEqual([
    {
      token: 'svcrt-token-of-runner',
      system_id: expect.stringMatching(/^r_[\w-]+$/),
      last_update: '',
      info: {
        name: 'gitstead',
        version: '1.2.3',
        platform: process.platform,
        architecture: process.arch,
        executor: 'shell',
        features: expect.objectContaining({ cancel_gracefully: true, two_phase_job_commit: true }),
      },
    },
    'svcrt-token-of-runner',
  ])
  const ids = new Set(asked.map(([body]) => body.system_id))
  await runner.run([jobOf(['true'])])
  const last = runner.server.calls.filter(({ path }) => path === '/jobs/request').at(-1)
  // The machine is known by one name, also to a program that is started anew.
  expect(ids).toEqual(new Set([JSON.parse(last?.body.toString() ?? '').system_id]))
})
