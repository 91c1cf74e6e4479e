import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createGroup } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'
import { UpstreamServer } from './upstream-server.ts'

const ROOT = '/virtual_registries/packages/maven'
const world = useWorld(
  { outboundAllow: ['127.0.0.1'], outboundTimeout: 1200, virtualRegistryCache: 250_000 },
  { background: false },
)
const ana = useCaller(world, 'ana')
let server: UpstreamServer
let registry: string
let upstreamId: number

beforeAll(async () => {
  server = await UpstreamServer.open()
  const { id: groupId } = await createGroup(ana, 'g')
  const { id } = (await ana.post(`/groups/${groupId}/-${ROOT}/registries`, { name: 'one' })).body
  const made = await ana.post(`${ROOT}/registries/${id}/upstreams`, { url: `${server.url}/m` })
  registry = `${ROOT}/${id}`
  upstreamId = made.body.id
})
afterAll(() => server.close())
afterEach(() => server.reset())

const pathsHere = async () => {
  const { body } = await ana.get(`${ROOT}/upstreams/${upstreamId}/cache_entries`)
  return (body as { relative_path: string }[]).map((one) => one.relative_path).sort()
}

/** Sends so many bytes each few milliseconds, and never ends. */
function endless(name: string, bytes: number) {
  const gone = { isClosed: false }
  server.files[`m/${name}`] = {
    answer(request, response) {
      // With its hashes known a file goes on to the client as it comes.
      const sums = { 'X-Checksum-Sha1': 'a'.repeat(40), 'X-Checksum-Md5': 'b'.repeat(32) }
      response.writeHead(200, { 'Content-Type': 'application/java-archive', ...sums })
      if (request.method === 'HEAD') return void response.end()
      const timer = setInterval(() => response.write(Buffer.alloc(bytes)), 100)
      response.on('close', () => {
        clearInterval(timer)
        gone.isClosed = true
      })
    },
  }
  return gone
}

test('a fetch whose client left ends, and holds up nobody who asks for the path again', async () => {
  const gone = endless('left.jar', 1000)
  const { port } = new URL(world.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(
    `GET /api/v4${registry}/left.jar HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: ${ana.token}\r\n\r\n`,
  )
  await once(socket, 'data')
  socket.destroy()
  await vi.waitFor(() => expect(gone.isClosed).toBe(true), { timeout: 20_000, interval: 100 })
  server.files['m/left.jar'] = { body: 'the end' }
  expect((await ana.get(`${registry}/left.jar`)).body).toBe('the end')
}, 60_000)

test('a fetch goes on for who still waits, and what takes the room of all is given up', async () => {
  const gone = endless('waited.jar', 9000)
  const answer = await fetch(`${world.url}/api/v4${registry}/waited.jar?x`, {
    headers: { 'PRIVATE-TOKEN': ana.token ?? '' },
  }).catch(() => undefined)
  // Longer than a fetch that nobody waits for may last.
  const reading = answer?.arrayBuffer().then(
    () => 'whole',
    () => 'broken',
  )
  await sleep(2000)
  expect(gone.isClosed).toBe(false)
  expect(await reading).toBe('broken')
  await vi.waitFor(() => expect(gone.isClosed).toBe(true), { timeout: 20_000, interval: 100 })
}, 60_000)

test('an upstream that only trickles is given up', async () => {
  const gone = endless('slow.jar', 1)
  await ana.get(`${registry}/slow.jar`).catch(() => undefined)
  await vi.waitFor(() => expect(gone.isClosed).toBe(true), { timeout: 20_000, interval: 100 })
}, 60_000)

test('an upstream that hangs in the middle of a file is given up, and nothing is kept', async () => {
  server.files['m/hung.jar'] = {
    answer(request, response) {
      response.writeHead(200, { 'Content-Length': 100 })
      if (request.method === 'HEAD') response.end()
      else response.write('half')
    },
  }
  expect((await ana.get(`${registry}/hung.jar`)).status).toBe(504)
  expect(await pathsHere()).not.toContain('hung.jar')
  server.files['m/hung.jar'] = { body: 'the jar' }
  expect((await ana.get(`${registry}/hung.jar`)).body).toBe('the jar')
}, 60_000)

test('what was used longest ago goes when all caches have more than their room', async () => {
  const names = ['a.jar', 'b.jar', 'c.jar'] as const
  for (const name of names) server.files[`m/${name}`] = { body: name.repeat(20_000) }
  const take = async (name: string, at: string) => {
    world.setNow(`2026-05-04T${at}.000Z`)
    expect((await ana.get(`${registry}/${name}`)).status).toBe(200)
    await vi.waitFor(async () => expect(await pathsHere()).toContain(name), 10_000)
  }
  await take('a.jar', '11:00:00')
  await take('b.jar', '11:10:00')
  await take('a.jar', '11:20:00')
  await world.runTasks()
  expect(await pathsHere()).toEqual(expect.arrayContaining(['a.jar', 'b.jar']))
  await take('c.jar', '11:30:00')
  await world.runTasks()
  expect(await pathsHere()).toEqual(['a.jar', 'c.jar'])
}, 60_000)
