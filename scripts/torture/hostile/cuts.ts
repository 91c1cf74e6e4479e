import { connect } from 'node:net'
import { leftoversAfter } from '../place/folder.ts'
import { startServer, type TortureServer } from '../place/server.ts'
import { randomOf } from '../random.ts'
import type { Report } from '../report.ts'
import type { Round, RoundOptions } from '../round.ts'
import { makeRequests, type WholeRequest } from './target.ts'

const CONNECTIONS = 8
/** How soon the server has removed what a cut request left. */
const CLEAN_MS = 10_000
/** A server that waits for the rest of a request this long says so itself. */
const ANSWER_MS = 500

/** Requests that break off, at every place of bodies of every kind. */
export const cutsRound: Round = {
  name: 'cuts',
  summary: 'connections that break off in the middle of bodies of every kind',
  unit: 'cuts',
  usual: { count: 2000, seconds: 0 },
  async run(options, report) {
    const server = await startServer(options.folder, { restart: true })
    try {
      await cutAll(server, options, report)
    } finally {
      await server.stop()
    }
  },
}

async function cutAll(server: TortureServer, options: RoundOptions, report: Report): Promise<void> {
  const made = await makeRequests(server, options.folder, randomOf(options.seed, -1))
  const requests = made.filter(({ name }) => name.includes(options.only ?? ''))
  const end = options.from + options.count
  let next = options.from
  const work = async () => {
    while (next < end) {
      const at = next
      next += 1
      await cutOne(server, requests, at, options, report)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  report.figure({ name: 'kinds of requests', value: requests.length, unit: 'one after the other' })
  report.figure({ name: 'connections cut', value: options.count, unit: 'in all' })
  report.figure({ name: 'ends of the server', value: server.deaths(), unit: 'in all', atMost: 0 })
  const left = await leftoversAfter(server.data, CLEAN_MS)
  for (const name of left.slice(0, 5)) report.say(`left over: ${name}`)
  report.figure({ name: 'files left over', value: left.length, unit: 'in all', atMost: 0 })
  const faults = server.faults()
  for (const line of faults.slice(0, 3)) report.say(`log: ${line.slice(0, 1000)}`)
  report.figure({ name: 'faults in the log', value: faults.length, unit: 'lines', atMost: 0 })
}

async function cutOne(
  server: TortureServer,
  requests: readonly WholeRequest[],
  at: number,
  options: RoundOptions,
  report: Report,
): Promise<void> {
  const random = randomOf(options.seed, at)
  const request = requests[at % requests.length]
  if (request === undefined) return
  const bodyAt = request.bytes.indexOf('\r\n\r\n') + 4
  // Most cuts are within the body; a request may break off within its head as well.
  const least = random.percent(90) ? bodyAt : 1
  const place = random.integer(least, request.bytes.length - 1)
  const before = server.deaths()
  await sendPart(server.port, request.bytes.subarray(0, place), random.pick(manners))
  if (server.deaths() === before) return
  report.fail({
    what: `the server ended: ${server.lastEnd()?.said} after ${request.name} cut at byte ${place}`,
    kind: `the server ended: ${server.lastEnd()?.said}`,
    again: `--round cuts --seed ${options.seed} --from ${Math.max(0, at - CONNECTIONS)} --count ${2 * CONNECTIONS}`,
  })
  await server.answers()
}

/** How a connection ends: a reset, its own end in order, or half of it, so that the server may still answer. */
const manners = ['reset', 'end', 'half'] as const

function sendPart(port: number, bytes: Buffer, manner: (typeof manners)[number]): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {})
    socket.on('close', () => resolve())
    socket.resume()
    socket.on('connect', () => {
      socket.write(bytes, () => {
        if (manner === 'reset') socket.resetAndDestroy()
        else if (manner === 'end') socket.destroy()
        else {
          socket.end()
          socket.setTimeout(ANSWER_MS, () => socket.destroy())
        }
      })
    })
  })
}
