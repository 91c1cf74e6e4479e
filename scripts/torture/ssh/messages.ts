import type { Random } from '../random.ts'

/** What a message may name that the server knows. */
export interface KnownNames {
  /** The public key of a user, in SSH's binary form. */
  readonly key: Buffer
}

const methods = ['none', 'password', 'publickey', 'hostbased', 'keyboard-interactive']
const keyTypes = [
  'ssh-ed25519',
  'rsa-sha2-512',
  'ssh-rsa',
  'ssh-dss',
  'ecdsa-sha2-nistp256',
  'sk-ssh-ed25519@openssh.com',
  'ssh-ed25519-cert-v01@openssh.com',
  'rsa-sha2-256-cert-v01@openssh.com',
  'ssh-rsa-cert-v01@openssh.com',
]
const channels = ['session', 'direct-tcpip', 'forwarded-tcpip', 'x11', 'auth-agent@openssh.com']
const requests = [
  'exec',
  'shell',
  'env',
  'pty-req',
  'subsystem',
  'x11-req',
  'signal',
  'exit-status',
]
const commands = [
  "git-upload-pack 'root/none.git'",
  "git-receive-pack '../../etc/passwd'",
  'git-upload-archive /',
  'git-lfs-authenticate root/none.git upload',
  'sh -c id',
  '',
]

/** A message to the server: of some kind and mostly in its form, or nothing but bytes. */
export function randomMessage(random: Random, names: KnownNames): Buffer {
  const make = random.pick([
    noise,
    authentication,
    authentication,
    opening,
    request,
    global,
    window,
  ])
  const whole = make(random, names)
  if (random.percent(60)) return whole
  return damaged(random, whole)
}

function noise(random: Random): Buffer {
  return Buffer.concat([byte(random.integer(0, 255)), random.bytes(random.integer(0, 200))])
}

function authentication(random: Random, { key }: KnownNames): Buffer {
  const method = random.pick(methods)
  const user = random.pick(['git', 'root', '', random.word()])
  const head = [byte(50), text(user), text(random.pick(['ssh-connection', random.word()]))]
  const type = random.pick(keyTypes)
  const blob = random.percent(50) ? key : Buffer.concat([text(type), random.bytes(80)])
  const signature = Buffer.concat([text(type), field(random.bytes(64))])
  const more: Readonly<Record<string, readonly Buffer[]>> = {
    password: [byte(0), text(random.word())],
    publickey: [byte(1), text(type), field(blob), field(signature)],
    hostbased: [text(type), field(blob), text('host'), text('root'), field(signature)],
    'keyboard-interactive': [text(''), text('')],
  }
  return Buffer.concat([...head, text(method), ...(more[method] ?? [])])
}

function opening(random: Random): Buffer {
  const numbers = [random.integer(0, 20), random.pick([0, 1024, 0xffffffff]), 32_768].map(number)
  const more = random.percent(50)
    ? [text('127.0.0.1'), number(22), text('127.0.0.1'), number(1)]
    : []
  return Buffer.concat([byte(90), text(random.pick(channels)), ...numbers, ...more])
}

function request(random: Random): Buffer {
  const name = random.pick(requests)
  const more = random.percent(70)
    ? text(random.pick(commands))
    : random.bytes(random.integer(0, 60))
  const channel = random.pick([0, 0, 0, 1, 7, 0xffffffff])
  return Buffer.concat([byte(98), number(channel), text(name), byte(random.integer(0, 1)), more])
}

function global(random: Random): Buffer {
  const name = random.pick([
    'tcpip-forward',
    'keepalive@openssh.com',
    'hostkeys-prove-00@openssh.com',
  ])
  return Buffer.concat([byte(80), text(name), byte(1), text('0.0.0.0'), number(0)])
}

function window(random: Random): Buffer {
  const type = random.integer(91, 100)
  const rest = random.percent(50)
    ? number(random.pick([0, 1, 0xffffffff]))
    : field(random.bytes(40))
  return Buffer.concat([byte(type), number(random.pick([0, 0, 1, 99])), rest])
}

/** Cut, lengthened, or with some bytes changed. */
function damaged(random: Random, message: Buffer): Buffer {
  const copy = Buffer.from(message)
  switch (random.integer(0, 2)) {
    case 0:
      return copy.subarray(0, random.integer(1, copy.length))
    case 1:
      return Buffer.concat([copy, random.bytes(random.integer(1, 300))])
    default:
      for (let times = random.integer(1, 4); times > 0; times -= 1) {
        copy[random.integer(0, copy.length - 1)] = random.pick([0, 1, 127, 255])
      }
      return copy
  }
}

const byte = (value: number) => Buffer.from([value])

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const field = (bytes: Buffer) => Buffer.concat([number(bytes.length), bytes])
const text = (value: string) => field(Buffer.from(value))
