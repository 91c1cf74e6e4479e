import { randomUUID } from 'node:crypto'
import { pipeline as pipe } from 'node:stream/promises'
import type { Request, RequestHandler, Response } from 'express'
import type { Log } from '../base/log.ts'
import { SendableBody } from '../base/streams/sendable.ts'
import { IncomingBody } from './body/incoming.ts'
import { closeUnlessRead, endAnswer } from './end-answer.ts'
import type { ApiAnswer } from './pipeline-parts.ts'
import type { ApiRequest } from './request.ts'
import type { Router } from './router.ts'

/** The pipeline as an Express handler, to be mounted at `/api/v4`; the one place of this room that knows Express. */
export function mount(
  handle: (request: ApiRequest) => Promise<ApiAnswer>,
  log: Log,
): RequestHandler {
  return (request, response) => {
    const started = performance.now()
    const gone = new AbortController()
    response.on('close', () => {
      if (!response.writableFinished) gone.abort()
    })
    const asked = readRequest(request, response, gone.signal)
    response.setHeader('X-Request-Id', asked.id)
    handle(asked)
      .then((answer) => send(request, response, answer, asked.id, started, log))
      .catch((error: unknown) => {
        log.error('answer failed', { error, request_id: asked.id })
        response.destroy()
      })
  }
}

/** As `mount`, for paths below the server itself: what is no route of the router's is passed on. */
export function mountHost(
  router: Router,
  handle: (request: ApiRequest) => Promise<ApiAnswer>,
  log: Log,
): RequestHandler {
  const handler = mount(handle, log)
  return (request, response, next) => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (!isKnown(router, request.method, plainPath(path))) return next()
    return handler(request, response, next)
  }
}

/** Whether a path is that of an endpoint; that `/*path` takes any does not make 405 of what is no address of ours. */
function isKnown(router: Router, method: string, path: string): boolean {
  const match = router.find(method, path)
  return match.kind === 'found' || (match.kind === 'no_method' && match.isWritten)
}

/** Ends the connections of requests whose body nobody reads; stands before everything else. */
export function unreadBodies(): RequestHandler {
  return (request, response, next) => {
    closeUnlessRead(request, response)
    next()
  }
}

const REQUEST_ID = /^[\w.-]{1,128}$/

function readRequest(request: Request, response: Response, signal: AbortSignal): ApiRequest {
  const url = request.url // below the mount point, raw
  const mark = url.indexOf('?')
  const given = request.headers['x-request-id']
  return {
    method: request.method,
    rawPath: plainPath(mark < 0 ? url : url.slice(0, mark)),
    rawQuery: mark < 0 ? '' : url.slice(mark + 1),
    headers: request.headers,
    ip: request.ip ?? '',
    id: typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID(),
    body: new IncomingBody(request, response),
    signal,
  }
}

/** Needless slashes go, within and at the end: some clients write `/features//name` and `/features/`. */
export function plainPath(path: string): string {
  const single = path.replaceAll(/\/{2,}/g, '/')
  return single.length > 1 && single.endsWith('/') ? single.slice(0, -1) : single
}

async function send(
  request: Request,
  response: Response,
  answer: ApiAnswer,
  id: string,
  started: number,
  log: Log,
): Promise<void> {
  const seconds = (performance.now() - started) / 1000
  response.statusCode = answer.status
  response.setHeader('X-Runtime', seconds.toFixed(6))
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('X-Frame-Options', 'SAMEORIGIN')
  response.setHeader('Vary', 'Origin')
  response.setHeader('Cache-Control', 'max-age=0, private, must-revalidate')
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
  if (answer.fault !== undefined) {
    log.error('request failed', { error: answer.fault, request_id: id, method: request.method })
  }
  await sendBody(request, response, answer)
  log.debug('request', {
    request_id: id,
    method: request.method,
    path: request.path,
    status: answer.status,
    seconds,
  })
}

async function sendBody(request: Request, response: Response, answer: ApiAnswer): Promise<void> {
  const { body } = answer
  if (body === null || answer.status === 204 || answer.status === 304) {
    response.removeHeader('Content-Type')
    endAnswer(request, response)
    return
  }
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    response.setHeader('Content-Length', bytes.length)
    endAnswer(request, response, request.method === 'HEAD' ? undefined : bytes)
    return
  }
  if (request.method === 'HEAD') {
    body.destroy()
    endAnswer(request, response)
    return
  }
  const sent = body instanceof SendableBody ? body.sendTo(response) : pipe(body, response)
  await sent.catch(() => {
    // A broken stream must not look like a whole one: the connection goes with it.
    response.destroy()
  })
}
