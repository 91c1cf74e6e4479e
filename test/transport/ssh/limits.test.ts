import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { type ClientFolders, openClientFolders } from '../../support/git-client.ts'
import { makeIdentity, noKnownHosts, runSsh, type SshIdentity } from '../../support/ssh-client.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let folders: ClientFolders
let port: number
let known: string
let key: SshIdentity
let other: SshIdentity

async function open(more = {}) {
  port = await freePort()
  world = await openWorld({ sshPort: port, ...more })
  const ana = await world.user('ana')
  await ana.post('/user/keys', { title: 'key', key: key.publicKey })
}

beforeAll(async () => {
  folders = openClientFolders()
  const folder = await folders.folder()
  known = await noKnownHosts(folder)
  key = await makeIdentity(folder, 'ana')
  other = await makeIdentity(folder, 'other')
  await open({ requestTimeout: 3000, sshIdle: 1000 })
})

afterAll(async () => {
  await world.close()
  await folders.clear()
})

function silent(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.resume()
  return once(socket, 'connect').then(() => socket)
}

const greet = () => runSsh({ port, known, identity: key, args: ['-T'] })

/** A connection that has signed in. */
async function signedIn(): Promise<ssh2.Client> {
  const client = new ssh2.Client()
  const privateKey = readFileSync(key.file)
  client.on('error', () => {})
  client.connect({ host: '127.0.0.1', port, username: 'git', privateKey })
  await once(client, 'ready')
  return client
}

test('a crowd that holds places and says nothing keeps nobody out', async () => {
  const sockets = await Promise.all(Array.from({ length: 300 }, silent))
  expect((await greet()).stdout).toBe('Welcome to Gitstead, @ana!\n')
  await sleep(100)
  const left = sockets.filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded)
  expect(left.length).toBeLessThanOrEqual(50)
  // Nobody has to go before the limit is reached.
  expect(left.length).toBeGreaterThanOrEqual(45)
  for (const socket of sockets) socket.destroy()
})

test('a handshake that is not gone on with ends', async () => {
  const socket = await silent()
  socket.write('SSH-2.0-test\r\n')
  socket.resume()
  await once(socket, 'close')
})

test('a connection without a command ends', async () => {
  const client = await signedIn()
  await once(client, 'close')
})

test('keys are not tried without end', async () => {
  const client = new ssh2.Client()
  let tries = 0
  const wrong = readFileSync(other.file)
  client.connect({
    host: '127.0.0.1',
    port,
    username: 'git',
    authHandler: (_left, _partial, next) => {
      tries += 1
      next({ type: 'publickey', username: 'git', key: wrong })
    },
  })
  client.on('error', () => {})
  await once(client, 'close')
  expect(tries).toBeLessThanOrEqual(21)
})

test('a signature of another key than the one that is named admits nobody', async () => {
  const own = ssh2.utils.parseKey(readFileSync(other.file))
  if (own instanceof Error) throw own
  const named = ssh2.utils.parseKey(key.publicKey)
  if (named instanceof Error) throw named
  class Agent extends ssh2.BaseAgent {
    getIdentities(done: (error: null, keys: ssh2.ParsedKey[]) => void) {
      done(null, [named as ssh2.ParsedKey])
    }
    sign(_key: unknown, data: Buffer, ...rest: unknown[]) {
      const done = rest.at(-1) as ssh2.SignCallback
      done(undefined, (own as ssh2.ParsedKey).sign(data) as Buffer)
    }
  }
  const client = new ssh2.Client()
  const failed = once(client, 'error').catch((error: unknown) => [error])
  // The types of the library name other overloads of these two methods.
  client.connect({ host: '127.0.0.1', port, username: 'git', agent: new Agent() as never })
  client.on('ready', () => expect.unreachable())
  expect(String((await failed)[0])).toContain('authentication methods failed')
})

test('one connection runs ten commands at once, and no more', async () => {
  const client = await signedIn()
  const run = () =>
    new Promise<boolean>((resolve) =>
      client.exec("git-receive-pack 'ana/many.git'", (error) => resolve(error === undefined)),
    )
  const ran = await Promise.all(Array.from({ length: 12 }, run))
  expect(ran.filter(Boolean)).toHaveLength(10)
  client.end()
})

test('a stop ends connections that have nothing to do, and cuts the others', async () => {
  await world.close()
  await open({ drainTime: 500 })
  const idle = await signedIn()
  const busy = await signedIn()
  const stranger = await silent()
  busy.exec("git-receive-pack 'ana/stop.git'", () => {})
  await sleep(300)
  const gone = Promise.all([once(idle, 'close'), once(busy, 'close'), once(stranger, 'close')])
  await world.close()
  await gone
  await open()
})
