import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

/** How long a client whose request could not be read has to read the answer. */
const LINGER_MS = 1000

interface ParseError extends Error {
  readonly code?: string
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

/** Answers what node's parser refuses: 414 for an address that is too long, 431 for headers that are. */
export function answerClientErrors(server: Server): void {
  const answering = new WeakMap<Duplex, ServerResponse>()
  const remember = (request: { readonly socket: Duplex }, response: ServerResponse) => {
    answering.set(request.socket, response)
  }
  server.prependListener('request', remember)
  server.prependListener('checkContinue', remember)
  server.on('clientError', (error: ParseError, socket: Duplex) => {
    if (socket.destroyed || !socket.writable) return
    const response = answering.get(socket)
    // An answer that is on its way already would be garbled.
    const isBusy = response !== undefined && !response.writableFinished && response.headersSent
    if (error.code === 'ECONNRESET' || isBusy) {
      socket.destroy()
      return
    }
    socket.end(answerTo(statusOf(error)))
    // What it still sends is not read: it is no HTTP.
    socket.pause()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  })
}

function statusOf(error: ParseError): number {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  if (error.code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413
  if (error.code !== 'HPE_HEADER_OVERFLOW') return 400
  // An address has no line end in what came so far, a header stands behind one.
  const seen = error.rawPacket?.subarray(0, error.bytesParsed ?? error.rawPacket.length)
  return seen?.includes('\n') ? 431 : 414
}

function answerTo(status: number): string {
  const body = JSON.stringify({ message: `${status} ${STATUS_CODES[status]}` })
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
