import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { type ClientFolders, openClientFolders } from '../../support/git-client.ts'
import { noKnownHosts, runSsh } from '../../support/ssh-client.ts'
import { type Caller, openWorld, type World } from '../../support/world.ts'

const KIND = 'sk-ssh-ed25519@openssh.com'
const TOUCHED = 1

let world: World
let folders: ClientFolders
let port: number
let known: string
let ana: Caller
const agents: Server[] = []

beforeAll(async () => {
  port = await freePort()
  world = await openWorld({ sshPort: port })
  folders = openClientFolders()
  known = await noKnownHosts(await folders.folder())
  ana = await world.user('ana')
})

afterEach(() => {
  for (const agent of agents.splice(0)) agent.close()
})

afterAll(async () => {
  await world.close()
  await folders.clear()
})

const digest = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest()

function field(given: Buffer | string): Buffer {
  const bytes = Buffer.from(given)
  const size = Buffer.alloc(4)
  size.writeUInt32BE(bytes.length)
  return Buffer.concat([size, bytes])
}

/** What a security key does, in software. */
class SecurityKey {
  readonly #pair = generateKeyPairSync('ed25519')
  readonly blob: Buffer

  constructor() {
    const point = this.#pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
    this.blob = Buffer.concat([field(KIND), field(point), field('ssh:')])
  }

  get publicKey(): string {
    return `${KIND} ${this.blob.toString('base64')} token`
  }

  sign(data: Buffer, more: { application?: string; flags?: number; by?: KeyObject } = {}): Buffer {
    const { application = 'ssh:', flags = TOUCHED, by = this.#pair.privateKey } = more
    const tail = Buffer.from([flags, 0, 0, 0, 7])
    const signed = Buffer.concat([digest(application), tail, digest(data)])
    return Buffer.concat([field(KIND), field(sign(null, signed, by)), tail])
  }
}

/** A program that holds one key (PROTOCOL.agent of OpenSSH) and signs as it is told. */
async function startAgent(
  folder: string,
  blob: Buffer,
  answer: (data: Buffer) => Buffer,
): Promise<string> {
  const path = join(folder, 'agent.sock')
  const server = createServer((socket) => {
    let waiting: Buffer = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk])
      while (waiting.length >= 4 && waiting.length >= 4 + waiting.readUInt32BE(0)) {
        const size = waiting.readUInt32BE(0)
        socket.write(field(replyTo(waiting.subarray(4, 4 + size))))
        waiting = waiting.subarray(4 + size)
      }
    })
    socket.on('error', () => {})
  })
  const replyTo = (message: Buffer): Buffer => {
    const one = Buffer.from([0, 0, 0, 1])
    if (message[0] === 11) {
      return Buffer.concat([Buffer.from([12]), one, field(blob), field('token')])
    }
    if (message[0] !== 13) return Buffer.from([5])
    const at = 5 + message.readUInt32BE(1)
    const data = message.subarray(at + 4, at + 4 + message.readUInt32BE(at))
    return Buffer.concat([Buffer.from([14]), field(answer(data))])
  }
  agents.push(server)
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return path
}

/** What OpenSSH's client gets with a key that is registered, whose signatures are what is given. */
async function greet(answer: (key: SecurityKey, data: Buffer) => Buffer) {
  const key = new SecurityKey()
  const added = await ana.post('/user/keys', { title: 'token', key: key.publicKey })
  expect(added.status).toBe(201)
  const folder = await folders.folder()
  const file = join(folder, 'token.pub')
  await writeFile(file, `${key.publicKey}\n`, { mode: 0o600 })
  let asked = 0
  const agent = await startAgent(folder, key.blob, (data) => {
    asked += 1
    return answer(key, data)
  })
  const identity = { file, publicKey: key.publicKey }
  const run = await runSsh({ port, known, identity, agent, args: ['-T'] })
  // The client has got as far as its signature.
  expect(asked).toBe(1)
  return run
}

test('a security key signs its holder in', async () => {
  expect(await greet((key, data) => key.sign(data))).toEqual({
    code: 0,
    stdout: 'Welcome to Gitstead, @ana!\n',
    stderr: '',
  })
})

const other = generateKeyPairSync('ed25519').privateKey

test.each<[string, (key: SecurityKey, data: Buffer) => Buffer]>([
  ['for another application', (key, data) => key.sign(data, { application: 'ssh:other' })],
  ['without a touch', (key, data) => key.sign(data, { flags: 0 })],
  ['that only says who was verified', (key, data) => key.sign(data, { flags: 4 })],
  ['of another key', (key, data) => key.sign(data, { by: other })],
  ['of another session', (key) => key.sign(Buffer.from('another session'))],
  ['whose flags were changed', (key, data) => changed(key.sign(data, { flags: 0 }), -5)],
  ['whose counter was changed', (key, data) => changed(key.sign(data), -1)],
  ['without flags and counter', (key, data) => key.sign(data).subarray(0, -5)],
  ['of nothing but its name', () => field(KIND)],
])('a signature %s admits nobody', async (_, answer) => {
  const run = await greet(answer)
  expect(run).toMatchObject({ code: 255, stdout: '' })
})

function changed(signature: Buffer, at: number): Buffer {
  const copy = Buffer.from(signature)
  copy[copy.length + at] = (copy.at(at) ?? 0) ^ 1
  return copy
}
