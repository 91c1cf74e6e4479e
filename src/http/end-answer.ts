import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { setInterval } from 'node:timers'

/** How long the rest of a body that nobody wants is taken in, so that its sender gets to read the answer. */
const LINGER_MS = 5000
/**
 * Bytes of such bodies that are read in a step, of all connections together, and how long a step is. The largest form is
 * through in the time above; more would only be memory that waits for the garbage collector.
 */
const STEP_BYTES = 256 * 1024
const STEP_MS = 20

/**
 * Ends an answer. When the request's body was not read to its end the connection ends with it. Clients that only listen
 * when they have sent everything would never see an answer on a connection that is closed at once: for a short time the
 * rest is thrown away as it comes, slowly enough that nobody else is kept waiting.
 */
export function endAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  bytes?: Buffer | string,
): void {
  // A small body lies in the same packet as the head, and is through the parser in a moment.
  if (isOver(request, response)) endNow(request, response, bytes)
  else setImmediate(() => endNow(request, response, bytes))
}

function isOver(request: IncomingMessage, response: ServerResponse): boolean {
  return (
    request.complete || response.headersSent || request.destroyed || !declaresBody(request.headers)
  )
}

function endNow(request: IncomingMessage, response: ServerResponse, bytes?: Buffer | string) {
  const waits = /^100-continue$/i.test(request.headers.expect ?? '')
  if (waits || isOver(request, response)) {
    if (request.complete && !response.headersSent) response.removeHeader('Connection')
    response.end(bytes)
    return
  }
  response.setHeader('Connection', 'close')
  if (bytes !== undefined && bytes.length > 0) response.write(bytes)
  else response.flushHeaders()
  lingering.add(request, () => response.end())
}

/** Says that the connection ends with the answer, unless the body is read to its end before that begins. */
export function closeUnlessRead(request: IncomingMessage, response: ServerResponse): void {
  if (!declaresBody(request.headers)) return
  response.setHeader('Connection', 'close')
  request.once('end', () => {
    if (!response.headersSent) response.removeHeader('Connection')
  })
}

function declaresBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Bodies that are discarded, at a rate that they share. */
class Lingering {
  readonly #paused = new Set<IncomingMessage>()
  #left = STEP_BYTES
  #open = 0
  #timer: NodeJS.Timeout | undefined

  add(request: IncomingMessage, end: () => void): void {
    this.#open += 1
    this.#timer ??= setInterval(() => this.#step(), STEP_MS).unref()
    const onData = (chunk: Buffer) => {
      this.#left -= chunk.length
      if (this.#left > 0) return
      request.pause()
      this.#paused.add(request)
    }
    let isOpen = true
    const done = () => {
      if (!isOpen) return
      isOpen = false
      clearTimeout(timeout)
      request.off('data', onData)
      request.pause()
      this.#paused.delete(request)
      this.#leave()
      end()
    }
    const timeout = setTimeout(done, LINGER_MS)
    request.on('error', done)
    request.on('close', done)
    request.on('end', done)
    request.on('data', onData)
    request.resume()
  }

  #step(): void {
    this.#left = STEP_BYTES
    const paused = [...this.#paused]
    this.#paused.clear()
    for (const request of paused) request.resume()
  }

  #leave(): void {
    this.#open -= 1
    if (this.#open > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

const lingering = new Lingering()
