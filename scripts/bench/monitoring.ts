import { createHash, randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { readEvent } from '../../src/monitoring/errors/event.ts'
import { packPayload } from '../../src/monitoring/errors/payload.ts'
import { findError, listErrors } from '../../src/monitoring/errors/queries.ts'
import { recordBatch } from '../../src/monitoring/errors/record.ts'
import { inTransaction } from '../../src/store/transaction.ts'
import { openTestStore } from '../../test/support/database.ts'
import { callApi } from './call-api.ts'
import { median, type Row } from './measure.ts'
import { type BenchServer, memoryOfAll } from './server.ts'
import { insertProject } from './stored-project.ts'

const senders = 16
const seconds = 10
/** A server that has just started compiles what it runs meanwhile: that is not measured. */
const warmSeconds = 2
const mebibyte = 1024 * 1024

interface Place {
  readonly server: BenchServer
  readonly say: (line: string) => void
}

/** Alerts and error events of sixteen senders at once, and lists of a million events. */
export async function* benchMonitoring({ server, say }: Place): AsyncGenerator<Row> {
  const { body: project } = await callApi(server, 'POST', '/projects', { name: 'monitored' })
  const path = `/projects/${project.id}`
  say('alerts')
  yield* alertRows(server, path)
  say('error events')
  yield* eventRows(server, path, project.id)
  say('a million events')
  yield* listRows()
}

/** Posts on one connection, an answer at a time. On a plain socket: a client that costs much would measure itself. */
class Sender {
  readonly #socket: Socket
  #answer = ''
  #onAnswer: ((status: number) => void) | undefined

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setNoDelay(true)
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (text: string) => this.#read(text))
  }

  post(path: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<number> {
    const all = { Host: 'bench', ...headers, 'Content-Length': String(body.length) }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#socket.cork()
    this.#socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
    this.#socket.write(body)
    this.#socket.uncork()
    return new Promise((resolve) => {
      this.#onAnswer = resolve
    })
  }

  end(): void {
    this.#socket.end()
  }

  #read(text: string): void {
    this.#answer += text
    const head = this.#answer.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#answer.slice(0, head))?.[1] ?? 0)
    if (this.#answer.length < head + 4 + length) return
    const status = Number(this.#answer.slice(9, 12))
    this.#answer = ''
    this.#onAnswer?.(status)
  }
}

/**
 * Sends from all senders for a while, each waiting for its answer, and no more than `most` requests a second together;
 * gives answers a second and the milliseconds of each.
 */
async function storm(
  { url }: BenchServer,
  send: (sender: Sender, count: number) => Promise<number>,
  { most = Number.POSITIVE_INFINITY, forSeconds = seconds } = {},
) {
  const times: number[] = []
  let count = 0
  const start = performance.now()
  const end = start + forSeconds * 1000
  const pauseMs = (senders / most) * 1000
  const one = async (index: number) => {
    const sender = new Sender(Number(new URL(url).port))
    let due = start + (index / senders) * pauseMs
    while (performance.now() < end) {
      if (due > performance.now()) await sleep(due - performance.now())
      due += pauseMs
      const begun = performance.now()
      count += 1
      const status = await send(sender, count)
      if (status !== 200) throw new Error(`answered ${status}`)
      times.push(performance.now() - begun)
    }
    sender.end()
  }
  await Promise.all(Array.from({ length: senders }, (_, index) => one(index)))
  return { rate: times.length / ((performance.now() - start) / 1000), p99: percentile(times, 0.99) }
}

function percentile(times: readonly number[], share: number): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * share)] ?? 0
}

const row = (
  what: string,
  value: number,
  unit: Row['unit'],
  limit: number,
  atLeast = false,
): Row => ({
  what,
  ours: `${value.toFixed(1)} ${unit}`,
  theirs: '',
  value,
  unit,
  limit,
  atLeast,
})

async function* alertRows(server: BenchServer, path: string): AsyncGenerator<Row> {
  const input = { name: 'bench', type: 'prometheus', active: true }
  const integrations = `${path}/alert_management/http_integrations`
  const { body: made } = await callApi(server, 'POST', integrations, input)
  const at = new URL(made.url).pathname
  const headers = { Authorization: `Bearer ${made.token}`, 'Content-Type': 'application/json' }
  const alert = (n: number) => ({
    status: 'firing',
    labels: { alertname: `alert ${n}`, severity: 'warning', instance: 'host:9100' },
    annotations: { description: 'Something is wrong with this host' },
    startsAt: '2026-05-04T09:00:00.000Z',
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus.example/graph?g0.expr=up+%3D%3D+0',
  })
  const body = (count: number) =>
    Buffer.from(
      JSON.stringify({
        version: '4',
        groupKey: 'g',
        status: 'firing',
        receiver: 'r',
        groupLabels: {},
        commonLabels: {},
        commonAnnotations: {},
        externalURL: 'http://am.example',
        alerts: Array.from({ length: 10 }, (_, n) => alert((count % 100) * 10 + n)),
      }),
    )
  const send = (sender: Sender, count: number) => sender.post(at, headers, body(count))
  await storm(server, send, { forSeconds: warmSeconds })
  const asked = await storm(server, send, { most: 110 })
  yield row(
    'alerts of 10 each, 16 senders, at the rate of the target',
    asked.rate * 10,
    '/s',
    1000,
    true,
  )
  yield row('alerts of 10 each, at the rate of the target, p99', asked.p99, 'ms', 50)
  const full = await storm(server, send)
  yield row(
    'alerts of 10 each, 16 senders, as fast as answers come',
    full.rate * 10,
    '/s',
    1000,
    true,
  )
  yield row('alerts of 10 each, as fast as answers come, p99', full.p99, 'ms', 50)
}

const words =
  'order customer total session cursor request response token header value index price stock retry queue batch result config path name'.split(
    ' ',
  )

/**
 * An event of some 20 kB as the Python SDK sends them: a stack with the lines around and the values of variables. gzip
 * makes a quarter of it, as of theirs.
 */
function eventOf(count: number): Buffer {
  const digest = (n: number) => createHash('sha256').update(`${count} ${n}`).digest()
  const word = (n: number) => words[n % words.length]
  const frames = Array.from({ length: 20 + (count % 9) }, (_, n) => {
    const bytes = digest(n)
    const line = (k: number) =>
      `    ${word(bytes[k] ?? 0)}_${k} = ${word(bytes[k + 1] ?? 0)}.${word(bytes[k + 2] ?? 0)}(${bytes[k + 3]})`
    return {
      filename: `src/${word(n)}/${word(n + 3)}.py`,
      abs_path: `/srv/app/src/${word(n)}/${word(n + 3)}.py`,
      function: `${word(n + 1)}_${word(n + 5)}`,
      module: `${word(n)}.${word(n + 3)}`,
      lineno: (bytes[0] ?? 0) + 10,
      in_app: n % 3 > 0,
      pre_context: [1, 2, 3, 4, 5].map(line),
      context_line: line(6),
      post_context: [7, 8, 9, 10, 11].map(line),
      vars: {
        self: `<${word(n)}.${word(n + 2)} object at 0x7f${bytes.toString('hex', 0, 5)}>`,
        [`${word(n + 4)}`]: bytes.toString('base64'),
        [`${word(n + 6)}_id`]: String(bytes.readUInt32LE(8)),
      },
    }
  })
  const breadcrumbs = Array.from({ length: 20 }, (_, n) => ({
    category: 'query',
    message: `SELECT * FROM ${word(n)} WHERE id = ${digest(100 + n).readUInt32LE(0)}`,
    timestamp: '2026-05-04T09:59:00.000000Z',
    type: 'default',
  }))
  const event = {
    event_id: randomBytes(16).toString('hex'),
    platform: 'python',
    environment: 'production',
    release: 'app@1.0',
    user: { id: String(count % 1000) },
    breadcrumbs: { values: breadcrumbs },
    exception: {
      values: [{ type: `Error${count % 50}`, value: `failed ${count}`, stacktrace: { frames } }],
    },
  }
  return Buffer.from(`{}\n{"type":"event"}\n${JSON.stringify(event)}\n`)
}

/** The same event once more: one that is sent again under its id is not counted. */
function withNewId(body: Buffer): Buffer {
  const name = '"event_id":"'
  const copy = Buffer.from(body)
  copy.write(randomBytes(16).toString('hex'), body.indexOf(name) + name.length, 'latin1')
  return copy
}

async function* eventRows(server: BenchServer, path: string, id: number): AsyncGenerator<Row> {
  const settings = { active: true, integrated: true }
  await callApi(server, 'PUT', `${path}/error_tracking/settings`, settings)
  const { body: keys } = await callApi(server, 'GET', `${path}/error_tracking/client_keys`)
  const [key] = keys
  const at = `/errortracking/api/v1/projects/api/${id}/envelope/`
  const headers = { 'X-Sentry-Auth': `Sentry sentry_key=${key.public_key}` }
  const bodies = Array.from({ length: 500 }, (_, n) => eventOf(n))
  const send = (sender: Sender, count: number) =>
    sender.post(at, headers, withNewId(bodies[count % 500] ?? eventOf(count)))
  await storm(server, send, { forSeconds: warmSeconds })
  const other: number[] = []
  let isDone = false
  const watch = (async () => {
    while (!isDone) {
      const begun = performance.now()
      await callApi(server, 'GET', path)
      other.push(performance.now() - begun)
      await sleep(20)
    }
  })()
  let memory = 0
  const timer = setInterval(() => {
    memory = Math.max(memory, memoryOfAll(server.pid) / mebibyte)
  }, 200)
  const { rate } = await storm(server, send)
  isDone = true
  clearInterval(timer)
  await watch
  yield row(
    `error events of ${Math.round((bodies[0]?.length ?? 0) / 1000)} kB, 16 senders`,
    rate,
    '/s',
    1000,
    true,
  )
  yield row('error events, memory of all processes', memory, 'MB', 250)
  yield row('error events, p99 of another request meanwhile', percentile(other, 0.99), 'ms', 50)
}

const errors = 500
const batch = 100
const now = '2026-05-04T10:00:00.000Z'

/** A million events over 500 errors, recorded as reports are. */
async function* listRows(): AsyncGenerator<Row> {
  const store = openTestStore()
  try {
    const { db } = store
    const id = await insertProject(db, now)
    const before = await sizeOf()
    // Recording asks a ctx for its database and its clock alone.
    const ctx = { db, now: () => now } as unknown as Parameters<typeof recordBatch>[0]
    for (let n = 0; n < errors; n += 1) {
      const bytes = eventOf(n).subarray(20)
      const event = { ...JSON.parse(bytes.toString()), transaction: `job ${n}` }
      const packed = await packPayload(bytes)
      const arrival = {
        event: readEvent(event, now),
        receivedAt: now,
        payload: async () => packed,
      }
      const arrivals = Array.from({ length: batch }, () => arrival)
      for (let done = 0; done < 1_000_000 / errors; done += batch) {
        await inTransaction(ctx, (ctx) => recordBatch(ctx, id, arrivals))
      }
    }
    const first = await listErrors(db, id, { status: 0 }, 'events', { limit: 20 })
    const [one] = first.items
    if (!one) throw new Error('nothing was recorded')
    const times = { list: [] as number[], single: [] as number[], search: [] as number[] }
    for (let round = 0; round < 20; round += 1) {
      times.list.push(
        await timed(() => listErrors(db, id, { status: 0 }, 'last_seen', { limit: 20 })),
      )
      times.single.push(await timed(() => findError(db, id, one.id)))
      const filter = { status: 0, search: `failed ${errors - 1}` }
      times.search.push(await timed(() => listErrors(db, id, filter, 'last_seen', { limit: 20 })))
    }
    yield row('list of errors, a million events', median(times.list), 'ms', 20)
    yield row('single error, a million events', median(times.single), 'ms', 20)
    yield row('search of errors, a million events', median(times.search), 'ms', 20)
    const { rows } = await sql<{
      bytes: number
    }>`SELECT sum(length(payload)) AS bytes FROM error_events`.execute(db)
    const ratio = ((await sizeOf()) - before) / (rows[0]?.bytes ?? 1)
    yield row('disk of a million events, by the payloads kept', ratio, 'x', 1.2)

    async function sizeOf(): Promise<number> {
      const { rows } = await sql<{ bytes: number }>`
        SELECT (page_count - freelist_count) * page_size AS bytes
        FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`.execute(db)
      return rows[0]?.bytes ?? 0
    }
  } finally {
    await store.remove()
  }
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await act()
  return performance.now() - begun
}
