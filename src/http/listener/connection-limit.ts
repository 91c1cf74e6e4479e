import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { addressSet, sharingAddress } from '../../base/outbound/address.ts'

/** Files, pipes to git programs and the database need the rest. */
const share = 0.4
const least = 32
/** The part of the connections that one address may have. */
const shareOfOne = 0.5

const refusal = [
  'HTTP/1.1 503 Service Unavailable',
  'Retry-After: 5',
  'Content-Type: application/json',
  'Content-Length: 37',
  'Connection: close',
  '',
  '{"message":"503 Service Unavailable"}',
].join('\r\n')

/**
 * Asks whoever comes when the system's file descriptors run short to come later, instead of letting everybody fail who
 * is there already. Node has raised its limit as far as the system lets it. One address has half of the room at most,
 * unless it is a proxy, behind which everybody is.
 */
export function limitConnections(
  server: Server,
  proxies: readonly string[],
  most = connectionsAllowed(),
): void {
  const isProxy = addressSet(proxies)
  const openOf = new Map<string, number>()
  let open = 0
  // Ahead of the listener that reads requests.
  server.prependListener('connection', (socket) => {
    const { remoteAddress: from = '' } = socket
    const address = sharingAddress(from)
    const own = (openOf.get(address) ?? 0) + 1
    openOf.set(address, own)
    open += 1
    socket.once('close', () => {
      open -= 1
      const left = (openOf.get(address) ?? 1) - 1
      if (left > 0) openOf.set(address, left)
      else openOf.delete(address)
    })
    const isFew = own <= most * shareOfOne || (from !== '' && isProxy(from))
    if (open <= most && isFew) return
    socket.on('error', () => {})
    socket.end(refusal)
    // Not before the client has had the time to send its request, and to read.
    socket.resume()
    setTimeout(() => socket.destroy(), 1000).unref()
  })
}

function connectionsAllowed(): number {
  const limit = descriptorLimit()
  return limit === undefined ? Number.POSITIVE_INFINITY : Math.max(least, Math.floor(limit * share))
}

function descriptorLimit(): number | undefined {
  try {
    const text = readFileSync('/proc/self/limits', 'latin1')
    const found = /^Max open files\s+(\d+)/m.exec(text)?.[1]
    return found === undefined ? undefined : Number(found)
  } catch {
    return undefined
  }
}

/** Whether the system had no room for another file, pipe or process: for now, and by no fault of the request. */
export function isExhausted(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOBUFS', 'SQLITE_CANTOPEN'].includes(code)
}
