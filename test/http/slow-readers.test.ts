import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Config } from '../../src/base/config.ts'
import { git } from '../support/git.ts'
import { addProject } from '../support/project.ts'
import { openWorld, type World } from '../support/world.ts'

/** More than the system holds for a connection whose reader takes nothing. */
const SIZE = 24 * 1024 * 1024
const slow: Socket[] = []
afterEach(() => {
  for (const socket of slow.splice(0)) socket.destroy()
})

interface Place {
  readonly world: World
  readonly id: number
  /** The commit without the large file, and the one with it. */
  readonly first: string
  readonly second: string
}

async function openPlace(given: Partial<Config>): Promise<Place> {
  const world = await openWorld({
    limitArchives: 0,
    limitLargeBlobs: 0,
    readerIdle: 600_000,
    trustedProxies: ['127.0.0.1'],
    ...given,
  })
  const ana = await world.user('ana')
  const project = await addProject(world, ana, 'basic', { visibility: 'public' })
  const [first, second] = addLargeFile(project.path)
  return { world, id: project.id, first, second }
}

/** Adds a file that no compression makes smaller. */
function addLargeFile(path: string): [string, string] {
  const first = git(path, ['rev-parse', 'main'])
  const blob = git(path, ['hash-object', '-w', '--stdin'], { input: randomBytes(SIZE) })
  const tree = git(path, ['mktree'], { input: `100644 blob ${blob}\tlarge\n` })
  const by = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const second = git(path, [...by, 'commit-tree', '-p', first, '-m', 'large', tree])
  git(path, ['update-ref', 'refs/heads/large', second])
  return [first, second]
}

const archive = ({ id }: Place, more = '') =>
  `/api/v4/projects/${id}/repository/archive.tar?sha=large${more}`
const file = ({ id }: Place) => `/api/v4/projects/${id}/repository/files/large/raw?ref=large`

/** Asks, and takes nothing of the answer but its first bytes. */
async function stall({ world }: Place, from: string, path: string, body?: Buffer): Promise<Socket> {
  const { port } = new URL(world.url)
  const socket = connect(Number(port), '127.0.0.1')
  slow.push(socket)
  socket.on('error', () => {})
  const type = body ? 'Content-Type: application/x-git-upload-pack-request\r\n' : ''
  const length = body ? `Content-Length: ${body.length}\r\nGit-Protocol: version=2\r\n` : ''
  socket.write(
    `${body ? 'POST' : 'GET'} ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\n${type}${length}\r\n`,
  )
  if (body) socket.write(body)
  return socket
}

/** The bytes that somebody gets who reads. */
async function take(place: Place, from: string, path: string, body?: Buffer): Promise<number> {
  const type = {
    'content-type': 'application/x-git-upload-pack-request',
    'git-protocol': 'version=2',
  }
  const answer = await request(place.world.url + path, {
    method: body ? 'POST' : 'GET',
    headers: { 'x-forwarded-for': from, ...(body ? type : {}) },
    ...(body ? { body } : {}),
    signal: AbortSignal.timeout(60_000),
  })
  expect(answer.statusCode).toBe(200)
  let size = 0
  for await (const chunk of answer.body) size += (chunk as Buffer).length
  return size
}

const begun = (sockets: readonly Socket[]) =>
  Promise.all(sockets.map((socket) => once(socket, 'readable')))

describe('readers who take nothing', () => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace({})
  }, 60_000)
  afterAll(() => place.world.close())

  test('hold no place for archives: these are made at full speed', async () => {
    const sockets = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        stall(place, '192.0.2.1', archive(place, `&exclude_paths=x${index}`)),
      ),
    )
    await begun(sockets)
    // From the same address, since nothing is held any more.
    expect(await take(place, '192.0.2.1', archive(place))).toBeGreaterThan(SIZE)
    expect(await take(place, '192.0.2.2', archive(place))).toBeGreaterThan(SIZE)
    // Who comes late gets the whole of it all the same.
    const [socket] = sockets
    let size = 0
    socket?.on('data', (chunk: Buffer) => {
      size += chunk.length
    })
    while (size < SIZE) await once(socket ?? place.world.app.server, 'data')
  }, 120_000)
})

describe('readers of what is not written ahead', () => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace({ archiveCache: 0, gitProcesses: 2 })
  }, 60_000)
  afterAll(() => place.world.close())

  test('have a share of archives for each address', async () => {
    for (let count = 0; count < 20; count += 1) await stall(place, '192.0.2.1', archive(place))
    await sleep(500)
    expect(await take(place, '192.0.2.2', archive(place))).toBeGreaterThan(SIZE)
  }, 120_000)

  test('have a share of the programs that send large files', async () => {
    for (let count = 0; count < 70; count += 1) await stall(place, '2001:db8::1', file(place))
    await sleep(500)
    expect(await take(place, '2001:db8:0:1::1', file(place))).toBe(SIZE)
  }, 120_000)

  test('have a share of the programs that serve fetches', async () => {
    const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
    const lines = ['ofs-delta\n', `want ${place.second}\n`, `have ${place.first}\n`, 'done\n']
    const body = Buffer.from(
      `${line('command=fetch')}${line('object-format=sha1')}0001${lines.map(line).join('')}0000`,
    )
    const path = '/ana/basic.git/git-upload-pack'
    for (let count = 0; count < 8; count += 1) await stall(place, '192.0.2.1', path, body)
    await sleep(500)
    expect(await take(place, '192.0.2.2', path, body)).toBeGreaterThan(SIZE)
  }, 120_000)
})

describe('after a while', () => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace({ archiveCache: 0, readerIdle: 2000 })
  }, 60_000)
  afterAll(() => place.world.close())

  test.each([
    ['an archive', archive],
    ['a file', file],
  ])(
    'a reader of %s who takes nothing is cut off',
    async (_what, pathOf) => {
      const socket = await stall(place, '192.0.2.1', pathOf(place))
      await once(socket, 'readable')
      await sleep(6000)
      let size = 0
      socket.on('data', (chunk: Buffer) => {
        size += chunk.length
      })
      await once(socket, 'close')
      expect(size).toBeLessThan(SIZE)
    },
    60_000,
  )

  test('one who takes a little now and then is not', async () => {
    const socket = await stall(place, '192.0.2.1', file(place))
    let size = 0
    // The system tells the sender of room only when there is some.
    let pause = 1024 * 1024
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > pause) socket.pause()
    })
    const closed = once(socket, 'close').then(() => 'closed')
    for (let round = 0; round < 12; round += 1) {
      expect(await Promise.race([closed, sleep(500, 'open')])).toBe('open')
      pause = size + 1024 * 1024
      socket.resume()
    }
    pause = Number.POSITIVE_INFINITY
    socket.resume()
    while (size < SIZE) {
      expect(await Promise.race([closed, once(socket, 'data').then(() => 'data')])).toBe('data')
    }
  }, 60_000)
})
