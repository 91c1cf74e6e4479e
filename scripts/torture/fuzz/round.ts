import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { percentile } from '../../bench/measure.ts'
import { startServer, type TortureServer } from '../place/server.ts'
import { randomOf } from '../random.ts'
import type { Report } from '../report.ts'
import type { Round, RoundOptions } from '../round.ts'
import { type Ground, makeGround } from './ground.ts'
import { keeperOf } from './keeper.ts'
import { type Operation, operationsOf } from './operations.ts'
import { asCurl, type FuzzRequest, makeRequest } from './requests.ts'
import { isFault, type Reply, send } from './send.ts'
import { keepSettings } from './settings.ts'

const CONNECTIONS = 12
/** After so many requests new records are made, since the old ones are worn. */
const RENEW = 50_000
/** After so many what has been deleted is made again. */
const REFRESH = 5000
/** After so many it is looked whether the records are still there. */
const LOOK = 2500

/** Every operation of the API's document with values of wrong types, sizes and characters. */
export const fuzzRound: Round = {
  name: 'fuzz',
  summary: 'every operation of the OpenAPI document with confused types; no answer may be a 5xx',
  unit: 'requests',
  usual: { count: 100_000, seconds: 0 },
  async run(options, report) {
    const server = await startServer(options.folder, { restart: true })
    try {
      await fuzz(server, options, report)
    } finally {
      await server.stop()
    }
  },
}

async function fuzz(server: TortureServer, options: RoundOptions, report: Report): Promise<void> {
  const document = await (await fetch(`${server.url}/api/v4/openapi.json`)).json()
  const operations = operationsOf(document).filter(
    ({ name }) => options.only === undefined || name.includes(options.only),
  )
  if (operations.length === 0) throw new Error(`no operation holds ${options.only}`)
  const pool = new Pool(server.url, { connections: CONNECTIONS, pipelining: 1 })
  const root = await keeperOf(server.root)
  const settings = await keepSettings(root)
  const tally = new Tally()
  const end = options.from + options.count
  const started = performance.now()
  let preparing = 0
  let ground: Ground | undefined
  for (let at = options.from; at < end; ) {
    const before = performance.now()
    const loss = (at - options.from) % RENEW < LOOK ? 'everything' : await ground?.findLoss()
    if (ground === undefined || loss !== undefined) {
      if (loss !== undefined && loss !== 'everything')
        report.say(`makes records anew, lost ${loss}`)
      ground = await makeGround(
        server.root,
        operationsOf(document),
        randomOf(options.seed, -1 - at),
      )
    } else if ((at - options.from) % REFRESH < LOOK) await ground.refresh()
    preparing += performance.now() - before
    const until = Math.min(end, at + LOOK)
    const place = { server, pool, ground, operations, options, report, tally, settings }
    await sendAll(place, at, until)
    at = until
    report.say(`${at - options.from} requests, ${tally.rate(started, preparing)} a second`)
  }
  await pool.destroy()
  await writeFile(join(options.folder, 'only-refused.txt'), tally.onlyRefused().join('\n'))
  await reportDeath(server, report)
  summarize(report, tally, operations.length, tally.rate(started, preparing))
}

interface Place {
  readonly server: TortureServer
  readonly pool: Pool
  readonly ground: Ground
  readonly operations: readonly Operation[]
  readonly options: RoundOptions
  readonly report: Report
  readonly tally: Tally
  readonly settings: { restore(): Promise<void> }
}

async function sendAll(place: Place, from: number, until: number): Promise<void> {
  let next = from
  const work = async () => {
    while (next < until) {
      const at = next
      next += 1
      await one(place, at)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
}

async function one(place: Place, at: number): Promise<void> {
  const { pool, ground, operations, options, tally } = place
  const random = randomOf(options.seed, at)
  // In turn, so that all are met equally often.
  const operation = operations[at % operations.length] ?? random.pick(operations)
  const id = `torture-${options.seed}-${at}`
  const request = makeRequest(operation, random, ground, id)
  const reply = await send(pool, request)
  tally.add(operation, reply.status, reply.milliseconds)
  if (operation.name === 'PUT /application/settings' && reply.status === 200) {
    await place.settings.restore()
  }
  if (reply.status === 0) await lost(place, request, id, at, reply)
  else if (isFault(operation, reply)) fail(place, request, id, at, reply.text)
}

/** A request without a whole answer: the server ended, or it closed the connection. */
async function lost(
  place: Place,
  request: FuzzRequest,
  id: string,
  at: number,
  reply: Reply,
): Promise<void> {
  const { server, options, report } = place
  const sentAt = Date.now() - reply.milliseconds
  // Its end arrives a moment later than the end of the connection.
  await sleep(500)
  const ended = server.lastEnd()
  // One end costs everybody who waits then an answer.
  const isDown =
    /ECONNREFUSED/.test(reply.text) || (ended !== undefined && ended.at > sentAt - 1000)
  if (!isDown) return fail(place, request, id, at, reply.text)
  const first = Math.max(0, at - CONNECTIONS)
  report.fail({
    what: `the server ended: ${ended?.said}`,
    again: `--round fuzz --seed ${options.seed} --from ${first} --count ${2 * CONNECTIONS}`,
  })
  await server.answers()
}

function fail(
  { server, options, report }: Place,
  request: FuzzRequest,
  id: string,
  at: number,
  what: string,
): void {
  const { operation, caller } = request
  const kind = `${operation.name} → ${what}`
  const known = report.countOf({ what: kind }) > 0
  const log = known ? undefined : server.logOf(id)
  report.fail({
    what: kind,
    again: `--round fuzz --seed ${options.seed} --from ${at} --count 1, as ${caller.name}: ${asCurl(server.url, request)}`,
    ...(log === undefined ? {} : { log }),
  })
}

async function reportDeath(server: TortureServer, report: Report): Promise<void> {
  if (await server.answers(10_000)) return
  report.fail({ what: `the server does not answer any more, see ${server.logFile}` })
}

function summarize(report: Report, tally: Tally, operations: number, rate: number): void {
  const { statuses, slowest, times } = tally
  const counted = [...statuses].sort(([one], [other]) => one - other)
  report.say(counted.map(([status, count]) => `${status}: ${count}`).join(', '))
  const worst = [...slowest].sort(([, one], [, other]) => other - one).slice(0, 5)
  report.say(`slowest: ${worst.map(([name, ms]) => `${name} ${Math.round(ms)} ms`).join(', ')}`)
  const dear = [...tally.spent].sort(([, one], [, other]) => other - one).slice(0, 8)
  report.say(`dearest: ${dear.map(([name, ms]) => `${name} ${Math.round(ms)} ms`).join(', ')}`)
  report.figure({ name: 'operations met', value: tally.spent.size, unit: `of ${operations}` })
  report.figure({ name: 'operations answered well', value: tally.well.size, unit: 'of them' })
  report.figure({ name: 'requests', value: tally.count, unit: 'in all' })
  report.figure({ name: 'rate', value: rate, unit: 'requests/s' })
  report.figure({ name: 'answer, median', value: percentile(times, 0.5), unit: 'ms' })
  report.figure({ name: 'answer, p99', value: percentile(times, 0.99), unit: 'ms' })
}

/** Counts what was answered. */
class Tally {
  count = 0
  readonly statuses = new Map<number, number>()
  readonly slowest = new Map<string, number>()
  /** Operations that did something, so that more than their refusals was met. */
  readonly well = new Set<string>()
  /** Milliseconds in all, by operation. */
  readonly spent = new Map<string, number>()
  readonly times: number[] = []

  add(operation: Operation, status: number, milliseconds: number): void {
    this.count += 1
    if (status >= 200 && status < 400) this.well.add(operation.name)
    this.spent.set(operation.name, (this.spent.get(operation.name) ?? 0) + milliseconds)
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    const worst = this.slowest.get(operation.name) ?? 0
    if (milliseconds > worst) this.slowest.set(operation.name, milliseconds)
    if (this.times.length < 1_000_000) this.times.push(milliseconds)
  }

  /** Operations of which nothing but refusals was seen. */
  onlyRefused(): string[] {
    return [...this.spent.keys()].filter((name) => !this.well.has(name)).sort()
  }

  /** Requests in a second, without the time in which records were made. */
  rate(started: number, preparing: number): number {
    return Math.round(this.count / ((performance.now() - started - preparing) / 1000))
  }
}
