import {
  createServer,
  IncomingMessage,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Express } from 'express'
import type { TlsPair } from './tls.ts'

/** The log, the counters, the pipeline and node's own stream each wait for the end of an answer: more than node expects. */
const MOST_LISTENERS = 20

/**
 * A server whose requests and responses are made with the prototypes that Express gives them. Express sets the prototype
 * of each as it comes, and an object whose prototype was changed is slow from then on, with whatever is reached through
 * it: of a short answer that was more than half of the processor time. It leaves alone what has the prototype already. With a
 * certificate it speaks TLS.
 */
export function createExpressServer(web: Express, options: ServerOptions, tls?: TlsPair): Server {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse<ExpressRequest> {
    constructor(...given: ConstructorParameters<typeof ServerResponse<ExpressRequest>>) {
      super(...given)
      this.setMaxListeners(MOST_LISTENERS)
    }
  }
  Object.setPrototypeOf(ExpressRequest.prototype, web.request)
  Object.setPrototypeOf(ExpressResponse.prototype, web.response)
  Object.assign(web, { request: ExpressRequest.prototype, response: ExpressResponse.prototype })
  const classes = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse }
  if (tls === undefined) return createServer({ ...options, ...classes }, web)
  const handshakeTimeout = options.headersTimeout
  return createTlsServer({ ...options, ...classes, ...tls, handshakeTimeout }, web)
}
