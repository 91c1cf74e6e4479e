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

interface Door {
  readonly port: number
  readonly server: Server
  /** Who came and was not let in yet; undefined while nobody is waited for. */
  guests: Set<Socket> | undefined
}

const host = '127.0.0.1'
/** Milliseconds in which the other end of a connection must have come. */
const patience = 5000
let opening: Promise<Door> | undefined
/** One pair at a time, so that guests can be told apart. */
let turn: Promise<unknown> = Promise.resolve()

/** A new pipe, whose bytes the taker gets. */
export function openWidePipe(taker: Taker): Promise<WidePipe> {
  const pair = turn.then(() => connectPair(taker))
  turn = pair.catch(() => {})
  return pair
}

async function connectPair(taker: Taker): Promise<WidePipe> {
  const door = await openDoor()
  const { port, server } = door
  const guests = new Set<Socket>()
  door.guests = guests
  const onread = { buffer: () => taker.next(), callback: (count: number) => taker.take(count) }
  const from = connect({ host, port, onread })
  try {
    await once(from, 'connect')
    // Anybody on this machine may knock; what we began ourselves comes from our own address and port.
    const findOurs = () =>
      [...guests].find(
        ({ remotePort, remoteAddress }) =>
          remotePort === from.localPort && remoteAddress === from.localAddress,
      )
    // Without room for another file the system drops a guest and says nothing.
    const signal = AbortSignal.timeout(patience)
    let into = findOurs()
    for (; !into; into = findOurs()) await once(server, 'connection', { signal })
    guests.delete(into)
    return { into, from }
  } catch (error) {
    from.destroy()
    throw new GitError('busy', `the system has no room for another pipe: ${String(error)}`)
  } finally {
    door.guests = undefined
    for (const guest of guests) guest.destroy()
  }
}

function openDoor(): Promise<Door> {
  opening ??= listen().catch((error: unknown) => {
    opening = undefined
    throw error
  })
  return opening
}

/** Only connections through a listener have two ends in one process. */
async function listen(): Promise<Door> {
  const server = createServer({ pauseOnConnect: true })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // that is what a server on a port has
  const door: Door = { port, server, guests: undefined }
  server.on('error', () => {})
  server.on('connection', (guest) => {
    guest.on('error', () => {})
    if (door.guests) door.guests.add(guest)
    else guest.destroy()
  })
  // Only what goes through it keeps the process alive.
  server.unref()
  return door
}
