import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServer, type TortureServer } from '../place/server.ts'
import { type Random, randomOf } from '../random.ts'
import type { Report } from '../report.ts'
import type { Round, RoundOptions } from '../round.ts'
import { type EndlessRequest, endlessRequests } from './endless.ts'
import { watch } from './watch.ts'

const BYTES = 32 * 1024 * 1024
const MEBIBYTE = 1024 * 1024
/** A connection that was closed is made again after so long. */
const AGAIN_MS = 250
/** Nothing may be left of the flood so soon after it. */
const CALM_MS = 3000

/** Limits of the flood; looser ones where a machine is shared. */
export interface FloodLimits {
  readonly p99: number
  readonly memory: number
  readonly disk: number
  /** How long an honest client asks alone before the memory is measured first. */
  readonly warmMs: number
}

const usualLimits: FloodLimits = { p99: 100, memory: 64, disk: 1, warmMs: 10_000 }

/** Many anonymous connections that each send a large body of some kind, fast or slowly. */
export function floodRound(limits: FloodLimits = usualLimits): Round {
  return {
    name: 'flood',
    summary: 'anonymous connections that send large bodies of every kind, fast or slowly',
    unit: 'connections',
    usual: { count: 200, seconds: 60 },
    async run(options, report) {
      const server = await startServer(options.folder, { restart: true })
      try {
        await flood(server, options, limits, report)
      } finally {
        await server.stop()
      }
    },
  }
}

async function flood(
  server: TortureServer,
  options: RoundOptions,
  limits: FloodLimits,
  report: Report,
): Promise<void> {
  await server.root.must('POST', '/projects', {
    name: 'target',
    visibility: 'public',
    initialize_with_readme: true,
  })
  const watching = await watch(server, limits.warmMs)
  const end = Date.now() + options.seconds * 1000
  const bodies = endlessRequests(BYTES, randomOf(options.seed, -1)).filter(({ name }) =>
    name.includes(options.only ?? ''),
  )
  const sent = { bytes: 0, connections: 0 }
  await Promise.all(
    Array.from({ length: options.count }, (_, at) =>
      keepSending(server, bodies, randomOf(options.seed, options.from + at), end, sent),
    ),
  )
  await sleep(CALM_MS)
  const seen = await watching.stop()
  report.figure({ name: 'connections made', value: sent.connections, unit: 'in all' })
  report.figure({ name: 'bytes sent', value: sent.bytes / MEBIBYTE, unit: 'MB' })
  report.figure({ name: 'ends of the server', value: server.deaths(), unit: '', atMost: 0 })
  const { memory, disk } = seen
  report.figure({
    name: 'memory grown',
    value: memory / MEBIBYTE,
    unit: 'MB',
    atMost: limits.memory,
  })
  report.figure({ name: 'disk grown', value: disk / MEBIBYTE, unit: 'MB', atMost: limits.disk })
  report.figure({ name: 'others, answers', value: seen.answers, unit: 'in all', atLeast: 1 })
  report.figure({ name: 'others, refused', value: seen.refused, unit: 'in all', atMost: 0 })
  report.figure({ name: 'others, p99', value: seen.p99, unit: 'ms', atMost: limits.p99 })
  report.figure({ name: 'others, longest', value: seen.longest, unit: 'ms' })
}

/** One connection after the other until the time is over. */
async function keepSending(
  server: TortureServer,
  bodies: readonly EndlessRequest[],
  random: Random,
  end: number,
  sent: { bytes: number; connections: number },
): Promise<void> {
  while (Date.now() < end) {
    const rate = random.pick(rates)
    sent.connections += 1
    await sendOne(server.port, random.pick(bodies), rate, end, (bytes) => {
      sent.bytes += bytes
    })
    await sleep(AGAIN_MS)
  }
}

/** Bytes of one piece, and the pause after it. */
interface Rate {
  readonly piece: number
  readonly pause: number
}

const rates: readonly Rate[] = [
  { piece: 64 * 1024, pause: 0 },
  { piece: 64 * 1024, pause: 0 },
  { piece: 16 * 1024, pause: 20 },
  { piece: 100, pause: 200 },
  { piece: 1, pause: 1000 },
  { piece: 0, pause: 1000 },
]

function sendOne(
  port: number,
  request: EndlessRequest,
  rate: Rate,
  end: number,
  count: (bytes: number) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const late = setTimeout(() => socket.destroy(), end - Date.now())
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(late)
      resolve()
    })
    socket.on('data', () => {
      // An answer before the body is whole: there is nothing more to send.
      socket.end()
    })
    socket.on('connect', () => {
      socket.write(request.head)
      void writeBody(socket, request, rate, count)
    })
  })
}

async function writeBody(
  socket: Socket,
  request: EndlessRequest,
  rate: Rate,
  count: (bytes: number) => void,
): Promise<void> {
  const chunked = request.head.includes('chunked')
  let piece = request.first
  for (let sent = 0; sent < BYTES && socket.writable; ) {
    if (piece.length > 0) {
      const framed = chunked ? chunk(piece) : piece
      if (!socket.write(framed)) await drained(socket)
      sent += piece.length
      count(piece.length)
    }
    await sleep(rate.pause)
    piece = request.more.subarray(0, Math.min(rate.piece, BYTES - sent))
  }
}

function chunk(bytes: Buffer): Buffer {
  const head = Buffer.from(`${bytes.length.toString(16)}\r\n`)
  return Buffer.concat([head, bytes, Buffer.from('\r\n')])
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
    if (socket.destroyed) done()
  })
}
