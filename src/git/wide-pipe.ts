import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { GitError } from './error.ts'

/*
 * A pipe that holds megabytes and is read straight into buffers of our own. The pipes of Node's child processes hold a
 * fifth of one: git fills that in a millisecond, so its reader has to come for every write of ten kilobytes, and that costs
 * several times what sending the bytes on does.
 */

interface WidePipe {
  /** The end for a program to write to; ours is to be closed once it has been handed over. */
  readonly into: Socket
  /** The end that is read. It tells of its end, but its bytes go to the taker. */
  readonly from: Socket
}

/** What takes the bytes of a pipe. */
export interface Taker {
  /** Where the next bytes go; asked before each read. */
  next(): Buffer
  /** So many bytes have come. Says whether more may come now, or only after `resume`. */
  take(count: number): boolean
}

interface Listener {
  readonly port: number
  readonly server: Server
  /** Connections that nobody has claimed yet; undefined while none is expected. */
  clients: Set<Socket> | undefined
}

const host = '127.0.0.1'
/** Milliseconds in which the other end of a connection must have come. */
const connectTimeout = 5000
let opening: Promise<Listener> | undefined
/** One pair at a time, so that connections can be told apart. */
let queue: Promise<unknown> = Promise.resolve()

/** A new pipe, whose bytes the taker gets. */
export function openWidePipe(taker: Taker): Promise<WidePipe> {
  const pair = queue.then(() => connectPair(taker))
  queue = pair.catch(() => {})
  return pair
}

async function connectPair(taker: Taker): Promise<WidePipe> {
  const listener = await openListener()
  const { port, server } = listener
  const clients = new Set<Socket>()
  listener.clients = clients
  const onread = { buffer: () => taker.next(), callback: (count: number) => taker.take(count) }
  const from = connect({ host, port, onread })
  try {
    await once(from, 'connect')
    // Any program on this machine may connect; what we began ourselves comes from our own address and port.
    const findOurs = () =>
      [...clients].find(
        ({ remotePort, remoteAddress }) =>
          remotePort === from.localPort && remoteAddress === from.localAddress,
      )
    // Without room for another file the system drops a connection without an error.
    const signal = AbortSignal.timeout(connectTimeout)
    let into = findOurs()
    for (; !into; into = findOurs()) await once(server, 'connection', { signal })
    clients.delete(into)
    return { into, from }
  } catch (error) {
    from.destroy()
    throw new GitError('busy', `the system has no room for another pipe: ${String(error)}`)
  } finally {
    listener.clients = undefined
    for (const client of clients) client.destroy()
  }
}

function openListener(): Promise<Listener> {
  opening ??= listen().catch((error: unknown) => {
    opening = undefined
    throw error
  })
  return opening
}

/** Only connections through a listener have two ends in one process. */
async function listen(): Promise<Listener> {
  const server = createServer({ pauseOnConnect: true })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // that is what a server on a port has
  const listener: Listener = { port, server, clients: undefined }
  server.on('error', () => {})
  server.on('connection', (client) => {
    client.on('error', () => {})
    if (listener.clients) listener.clients.add(client)
    else client.destroy()
  })
  // Only what goes through it keeps the process alive.
  server.unref()
  return listener
}
