import type { RequestHandler } from 'express'
import type { Log } from '../../base/log.ts'
import { addressSet } from '../../base/outbound/address.ts'

/**
 * Says once that somebody who is not trusted says for whom requests are made: behind a proxy that no setting names
 * everybody counts as one address, in limits and in the log.
 */
export function noticeUntrustedProxy(trusted: readonly string[], log: Log): RequestHandler {
  const isTrusted = addressSet(trusted)
  let isSaid = false
  return (request, _response, next) => {
    const sender = request.socket.remoteAddress
    const forwards = request.headers['x-forwarded-for'] !== undefined
    if (!isSaid && forwards && sender !== undefined && !isTrusted(sender)) {
      isSaid = true
      log.warn(
        'X-Forwarded-For of a sender that is not trusted is not believed: everybody behind it counts as one address. ' +
          'If it is your proxy, name it in GITSTEAD_TRUSTED_PROXIES',
        { sender },
      )
    }
    next()
  }
}
