import { connect } from 'node:net'

// usage: load.ts <json>; asks one server for paths by rotation on some connections, each waiting for its answer, and prints
// how many answers came in a second. A process of its own on plain sockets: a client that costs more than the server
// would measure itself.
interface Order {
  readonly port: number
  readonly token: string
  /** `{n}` in a path becomes a number that never comes again. */
  readonly paths: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  readonly connections: number
  readonly warmMs: number
  readonly runMs: number
}

const order = JSON.parse(process.argv[2] ?? '') as Order
let asked = 0
let answered = 0
let counting = false
let over = false
const waits: number[] = []

function nextRequest(): string {
  const path = order.paths[asked % order.paths.length] ?? '/'
  asked += 1
  const unique = path.replaceAll('{n}', String(asked))
  return `GET ${unique} HTTP/1.1\r\nHost: bench\r\nPRIVATE-TOKEN: ${order.token}\r\n${more}\r\n`
}

const more = Object.entries(order.headers ?? {})
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

const headEnd = Buffer.from('\r\n\r\n')

function bodyLength(head: string): number {
  if (head.startsWith('HTTP/1.1 304')) return 0
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(head.split('\r\n', 1)[0])
  return Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1])
}

function ask(): void {
  const socket = connect(order.port, '127.0.0.1')
  socket.setNoDelay(true)
  let begun = 0
  let missing = 0
  let head = Buffer.alloc(0)
  const send = () => {
    head = Buffer.alloc(0)
    missing = 0
    begun = performance.now()
    socket.write(nextRequest())
  }
  const end = () => {
    if (counting) {
      answered += 1
      waits.push(performance.now() - begun)
    }
    if (over) socket.end()
    else send()
  }
  socket.on('connect', send)
  socket.on('data', (chunk) => {
    if (missing > 0) {
      missing -= chunk.length
      if (missing <= 0) end()
      return
    }
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
    const at = head.indexOf(headEnd)
    if (at < 0) return
    const text = head.toString('latin1', 0, at)
    missing = bodyLength(text) - (head.length - at - headEnd.length)
    if (missing <= 0) end()
  })
}

for (let index = 0; index < order.connections; index += 1) ask()
setTimeout(() => {
  counting = true
  setTimeout(() => {
    counting = false
    over = true
    waits.sort((a, b) => a - b)
    const p99 = waits[Math.floor(waits.length * 0.99)] ?? Number.NaN
    const perSecond = answered / (order.runMs / 1000)
    process.stdout.write(JSON.stringify({ perSecond, p99 }))
  }, order.runMs)
}, order.warmMs)
