import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import { OutboundError } from './outbound-guard.ts'

/** Opens a request to `target` by way of an HTTP proxy: a tunnel for https, the whole URL in the request line for http. */
export async function connectThrough(
  proxy: string,
  target: URL,
  options: https.RequestOptions,
): Promise<http.ClientRequest> {
  const through = new URL(proxy)
  const place = { host: through.hostname, port: through.port || 80 }
  if (target.protocol === 'http:') {
    const headers = { ...options.headers, host: target.host, ...proxySignIn(through) }
    return http.request({ ...options, ...place, path: target.href, headers })
  }
  const socket = await tunnel(through, target, options.signal)
  const secure = tls.connect({
    socket,
    servername: target.hostname,
    rejectUnauthorized: options.rejectUnauthorized ?? true,
  })
  return https.request(target, { ...options, createConnection: () => secure })
}

async function tunnel(through: URL, target: URL, signal: AbortSignal | undefined): Promise<Duplex> {
  const authority = `${target.hostname}:${target.port || 443}`
  const asked = http.request({
    host: through.hostname,
    port: through.port || 80,
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...proxySignIn(through) },
    agent: false,
    ...(signal ? { signal } : {}),
  })
  const opened = once(asked, 'connect')
  asked.end()
  // node:http gives the response and the socket with this event.
  const [response, socket] = (await opened) as [http.IncomingMessage, Duplex]
  if (response.statusCode === 200) return socket
  socket.destroy()
  throw new OutboundError('unreachable', `the proxy answers ${response.statusCode}`)
}

function proxySignIn(through: URL): Record<string, string> {
  if (through.username === '') return {}
  const pair = `${decodeURIComponent(through.username)}:${decodeURIComponent(through.password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}
