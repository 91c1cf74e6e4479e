import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, fetch } from 'undici'
import { makeWriters } from '../kills/round.ts'
import type { Writer } from '../kills/writer.ts'
import { checkRepositories } from '../place/inspect.ts'
import { memoryOf } from '../place/processes.ts'
import { startServer, type TortureServer } from '../place/server.ts'
import { type Random, randomOf } from '../random.ts'
import type { Report } from '../report.ts'
import type { Round, RoundOptions } from '../round.ts'
import { readAddresses } from './addresses.ts'

const READERS = 50
/** People look at what they got before they go on. */
const WRITER_PAUSE_MS = [1000, 5000] as const
const READER_PAUSE_MS = [500, 2500] as const
/** Shorter than the server keeps connections: on a busy machine a reader may else meet one that is just being closed. */
const agent = new Agent({ keepAliveTimeout: 1000, keepAliveMaxTimeout: 1000 })
const SAMPLE_MS = 5000
const MEGABYTE = 1024 * 1024
/** What the processes may hold more at the end than after the first third. */
const GROWTH_MB = 60

/** Twenty writers and fifty readers for an hour: nothing fails, and memory stays as it is. */
export const soakRound: Round = {
  name: 'soak',
  summary: '20 writers and 50 readers, for as long as is wanted',
  unit: 'rounds of writers',
  usual: { count: 1, seconds: 3600 },
  async run(options, report) {
    const server = await startServer(options.folder)
    try {
      await soak(server, options, report)
    } finally {
      await server.stop()
    }
    const faults = await checkRepositories(server.data)
    for (const fault of faults) report.fail({ what: `fsck: ${fault}` })
  },
}

interface Seen {
  readonly times: number[]
  writes: number
  failed: number
}

async function soak(server: TortureServer, options: RoundOptions, report: Report): Promise<void> {
  const writers = [
    ...(await makeWriters(server, options)),
    ...(await makeWriters(server, options, '-b')),
  ]
  const end = Date.now() + options.seconds * 1000
  const seen: Seen = { times: [], writes: 0, failed: 0 }
  const readers = Array.from({ length: READERS }, (_, at) => randomOf(options.seed, at))
  const work = [
    ...writers.map((writer, at) =>
      keepAt(end, randomOf(options.seed, -1 - at), WRITER_PAUSE_MS, () =>
        writeOnce(writer, seen, report),
      ),
    ),
    ...readers.map((random) =>
      keepAt(end, random, READER_PAUSE_MS, () => readOnce(server, random, seen, report)),
    ),
  ]
  const memory = await sampleMemory(server, end)
  await Promise.all(work)
  for (const writer of writers) {
    for (const lost of await writer.check()) report.fail({ what: lost, kind: writer.name })
  }
  reportFigures(report, server, seen, memory)
}

async function keepAt(
  end: number,
  random: Random,
  [least, most]: readonly [number, number],
  act: () => Promise<void>,
): Promise<void> {
  while (Date.now() < end) {
    await sleep(random.integer(least, most))
    await act()
  }
}

async function writeOnce(writer: Writer, seen: Seen, report: Report): Promise<void> {
  const outcome = await writer.write()
  seen.writes += 1
  if (outcome.kind === 'done') return
  seen.failed += 1
  report.fail({ what: `${writer.name}: ${outcome.reason}`, kind: writer.name })
}

async function readOnce(
  server: TortureServer,
  random: Random,
  seen: Seen,
  report: Report,
): Promise<void> {
  const { path, host } = random.pick(readAddresses)
  const started = performance.now()
  const url = `${server.url}${host ? '' : '/api/v4'}${path}`
  try {
    const headers = host ? { accept: 'text/html' } : { 'private-token': server.root.token ?? '' }
    const reply = await fetch(url, {
      headers,
      dispatcher: agent,
      signal: AbortSignal.timeout(60_000),
    })
    await reply.arrayBuffer()
    if (reply.status < 400) seen.times.push(performance.now() - started)
    else report.fail({ what: `${path} answers ${reply.status}`, kind: path })
  } catch (error) {
    const cause = error instanceof Error && error.cause ? ` (${String(error.cause)})` : ''
    report.fail({ what: `${path}: ${String(error)}${cause}`, kind: path })
  }
}

/** Bytes that all processes hold, every few seconds. */
async function sampleMemory(server: TortureServer, end: number): Promise<number[]> {
  const samples: number[] = []
  while (Date.now() < end) {
    await sleep(SAMPLE_MS)
    // Programs of git come and go with the requests.
    const lasting = server.processes().filter(({ role }) => role !== 'git')
    samples.push(memoryOf(lasting) / MEGABYTE)
  }
  return samples
}

function reportFigures(
  report: Report,
  server: TortureServer,
  seen: Seen,
  memory: readonly number[],
): void {
  const times = seen.times.toSorted((one, other) => one - other)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0
  report.figure({ name: 'reads answered', value: times.length, unit: 'in all', atLeast: 1 })
  report.figure({ name: 'median read', value: at(0.5), unit: 'ms' })
  report.figure({ name: 'p99 read', value: at(0.99), unit: 'ms' })
  report.figure({ name: 'writes', value: seen.writes, unit: 'in all', atLeast: 1 })
  report.figure({ name: 'writes that failed', value: seen.failed, unit: '', atMost: 0 })
  report.figure({ name: 'errors in the log', value: server.faults().length, unit: '', atMost: 0 })
  report.figure({ name: 'ends of the server', value: server.deaths(), unit: '', atMost: 0 })
  const third = Math.ceil(memory.length / 3)
  const early = middle(memory.slice(third, third * 2))
  const late = middle(memory.slice(third * 2))
  report.figure({ name: 'memory in the second third', value: early, unit: 'MB' })
  report.figure({ name: 'memory in the last third', value: late, unit: 'MB' })
  report.figure({ name: 'growth', value: late - early, unit: 'MB', atMost: GROWTH_MB })
}

function middle(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
