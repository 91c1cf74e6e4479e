import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ssh2, { type ClientChannel } from 'ssh2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeLog } from '../../../src/base/log.ts'
import { freePort } from '../../support/free-port.ts'
import {
  type ClientFolders,
  gitClient,
  makeProject,
  openClientFolders,
  type TestProject,
} from '../../support/git-client.ts'
import { cases } from '../../support/runs.ts'
import { makeIdentity, noKnownHosts, runSsh, type SshIdentity } from '../../support/ssh-client.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

let world: World
let folders: ClientFolders
let port: number
let known: string
let ana: Caller
let key: SshIdentity
/** What the server held for faults of its own. */
const faults: string[] = []

beforeAll(async () => {
  port = await freePort()
  const log = makeLog({ level: 'error', write: (line) => void faults.push(line) })
  world = await openWorld({ sshPort: port, requestTimeout: 3000, readerIdle: 1000 }, { log })
  folders = openClientFolders()
  const folder = await folders.folder()
  known = await noKnownHosts(folder)
  key = await makeIdentity(folder, 'ana')
  ana = await world.user('ana')
  await ana.post('/user/keys', { title: 'key', key: key.publicKey })
})

afterAll(async () => {
  await world.close()
  await folders.clear()
})

let count = 0
const newProject = (from?: string): Promise<TestProject> =>
  makeProject(world, ana, `project-${++count}`, from === undefined ? {} : { from })

const greet = async () => (await runSsh({ port, known, identity: key, args: ['-T'] })).stdout
const welcome = 'Welcome to Gitstead, @ana!\n'

/** What the library keeps to itself. */
interface Inside {
  readonly _protocol: {
    exec(channel: number, command: string, wantsReply: boolean): void
    _packetRW: {
      write: { alloc(size: number): Buffer; allocStart: number; finalize(b: Buffer): Buffer }
    }
    _cipher: { encrypt(packet: Buffer): void }
  }
}
const inside = (client: ssh2.Client) => client as unknown as Inside

async function signedIn(): Promise<ssh2.Client> {
  const client = new ssh2.Client()
  client.on('error', () => {})
  client.connect({ host: '127.0.0.1', port, username: 'git', privateKey: readFileSync(key.file) })
  await once(client, 'ready')
  return client
}

const exec = (client: ssh2.Client, command: string) =>
  new Promise<ClientChannel>((resolve, reject) =>
    client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel))),
  )

async function send(...pieces: readonly Buffer[]): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.resume()
  await once(socket, 'connect')
  for (const piece of pieces) socket.write(piece)
  socket.end()
  await once(socket, 'close')
}

/** A packet before there are keys (RFC 4253 §6). */
function packet(payload: Buffer): Buffer {
  const padding = 16 - ((payload.length + 5) % 16) + 4
  const head = Buffer.alloc(5)
  head.writeUInt32BE(1 + payload.length + padding)
  head[4] = padding
  return Buffer.concat([head, payload, Buffer.alloc(padding)])
}

test('whatever strangers send ends their connection, and nothing else', async () => {
  const hello = Buffer.from('SSH-2.0-test\r\n')
  const noise = () => randomBytes(Math.ceil(Math.random() * 600))
  for (let round = 0; round < cases(4, 20); round++) {
    const type = Buffer.from([Math.floor(Math.random() * 256)])
    await Promise.all([
      send(noise()),
      send(Buffer.alloc(100_000, 'x')),
      send(Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')),
      send(Buffer.from('SSH-1.5-old\r\n')),
      send(hello, noise()),
      send(hello, packet(Buffer.concat([type, noise()]))),
      send(hello, packet(Buffer.concat([Buffer.from([20]), noise()]))),
      send(hello, packet(Buffer.concat([Buffer.from([50]), noise()]))),
      send(hello, Buffer.from([0xff, 0xff, 0xff, 0xff]), noise()),
    ])
  }
  expect(await greet()).toBe(welcome)
}, 60_000)

test('whatever people send who have signed in ends no more than their connection', async () => {
  for (let round = 0; round < cases(6, 25); round++) {
    const client = await signedIn()
    const closed = new Promise<void>((resolve) => client.once('close', () => resolve()))
    await exec(client, "git-upload-pack 'ana/none.git'").catch(() => undefined)
    const { _protocol } = inside(client)
    for (let message = 0; message < 20; message++) {
      const type = 80 + Math.floor(Math.random() * 21)
      const payload = randomBytes(Math.ceil(Math.random() * 60))
      payload[0] = type
      // Mostly a channel that there is.
      if (type > 90 && payload.length > 5 && Math.random() < 0.7) payload.writeUInt32BE(0, 1)
      const { write } = _protocol._packetRW
      const raw = write.alloc(payload.length)
      payload.copy(raw, write.allocStart)
      _protocol._cipher.encrypt(write.finalize(raw))
    }
    client.end()
    await closed
  }
  expect(await greet()).toBe(welcome)
}, 60_000)

test('a sign-in that ends before its key is refused, and is no fault of the server', async () => {
  const client = new ssh2.Client()
  client.on('error', () => {})
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()))
  // The library never comes to sign in by itself.
  const options = { host: '127.0.0.1', port, username: 'git', authHandler: () => {} }
  client.connect(options as unknown as ssh2.ConnectConfig)
  await once(client, 'handshake')
  const text = (value: string) => {
    const size = Buffer.alloc(4)
    size.writeUInt32BE(value.length)
    return Buffer.concat([size, Buffer.from(value)])
  }
  const words = ['git', 'ssh-connection', 'publickey'].map(text)
  const head = Buffer.concat([Buffer.from([50]), ...words, Buffer.from([0])])
  for (const payload of [head, Buffer.concat([head, text('ssh-ed25519')])]) {
    const { _packetRW, _cipher } = inside(client)._protocol
    const raw = _packetRW.write.alloc(payload.length)
    payload.copy(raw, _packetRW.write.allocStart)
    _cipher.encrypt(_packetRW.write.finalize(raw))
  }
  // The library does not know what it is refused.
  await closed
  expect(await greet()).toBe(welcome)
  expect(faults).toEqual([])
}, 20_000)

test('clients that leave in the middle of their sign-in leave nothing behind', async () => {
  const leave = (event: 'handshake' | 'ready' | 'connect', later: boolean) =>
    new Promise<void>((resolve) => {
      const client = new ssh2.Client()
      client.on('error', () => {})
      client.on('close', () => resolve())
      client.on(event as 'ready', () => {
        if (later) setImmediate(() => client.destroy())
        else client.destroy()
      })
      const privateKey = readFileSync(key.file)
      client.connect({ host: '127.0.0.1', port, username: 'git', privateKey })
    })
  for (let round = 0; round < cases(3, 10); round++) {
    await Promise.all([
      leave('connect', false),
      leave('handshake', false),
      leave('handshake', true),
      leave('ready', false),
      leave('ready', true),
    ])
  }
  expect(await greet()).toBe(welcome)
}, 60_000)

test('a first line that is not gone on with ends its connection', async () => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.resume()
  socket.write('SSH-2.0-')
  await once(socket, 'close')
})

test('a second command in a session is not run, and counts for nothing', async () => {
  const client = await signedIn()
  const command = "git-receive-pack 'ana/second.git'"
  const first = await exec(client, command)
  const { outgoing } = first as unknown as { outgoing: { id: number } }
  for (let again = 0; again < 5; again++) inside(client)._protocol.exec(outgoing.id, command, false)
  const others = await Promise.allSettled(Array.from({ length: 12 }, () => exec(client, command)))
  expect(others.filter(({ status }) => status === 'fulfilled')).toHaveLength(9)
  client.end()
})

/** A push of many small objects, by a client that leaves its side open, in pieces of so many bytes. */
async function pushOpen(project: TestProject, pieces: number) {
  const source = await folders.repository()
  for (let file = 0; file < 150; file++) await writeFile(join(source, `${file}.txt`), `${file}\n`)
  await gitClient(source, ['add', '-A'])
  await gitClient(source, ['commit', '-qm', 'Many'])
  const id = await gitClient(source, ['rev-parse', 'HEAD'])
  const made = promisify(execFile)('git', ['-C', source, 'pack-objects', '--all', '--stdout'], {
    encoding: 'buffer',
  })
  made.child.stdin?.end()
  const line = `${'0'.repeat(40)} ${id} refs/heads/main\0report-status`
  const size = (line.length + 4).toString(16).padStart(4, '0')
  const request = Buffer.concat([Buffer.from(`${size}${line}0000`), (await made).stdout])
  const client = await signedIn()
  const channel = await exec(client, `git-receive-pack '${project.path}.git'`)
  let said = ''
  channel.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1')
  })
  const ended = once(channel, 'exit')
  for (let at = 0; at < request.length; at += pieces) {
    channel.write(request.subarray(at, at + pieces))
  }
  const [code] = await ended
  client.end()
  return { code, said, id }
}

test.each([100_000, 50])(
  'a pack of many objects has its end for who leaves their side open, in pieces of %i bytes',
  async (pieces) => {
    const project = await newProject()
    const { code, said, id } = await pushOpen(project, pieces)
    expect(said).toContain('unpack ok')
    expect(code).toBe(0)
    expect(await gitClient(project.repository, ['rev-parse', 'main'])).toBe(id)
  },
)

test('a client that takes nothing of what it asked for is cut off', async () => {
  const source = await folders.repository()
  await writeFile(join(source, 'noise.bin'), randomBytes(12_000_000))
  await gitClient(source, ['add', '-A'])
  await gitClient(source, ['commit', '-qm', 'Noise'])
  const project = await newProject(source)
  const id = await gitClient(source, ['rev-parse', 'HEAD'])
  const client = await signedIn()
  const channel = await exec(client, `git-upload-pack '${project.path}.git'`)
  channel.pause()
  channel.write(`0032want ${id}\n00000009done\n`)
  await once(client, 'close')
}, 20_000)
