import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'

export interface Asked {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The name in the certificate. */
  readonly name: string | undefined
  readonly alpn: string | false | null
}

export interface AskOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** One request over TLS, on a connection of its own, that trusts one certificate; redirects are not followed. */
export function ask(ca: string, url: string, options: AskOptions = {}): Promise<Asked> {
  const { method = 'GET', headers = {}, body } = options
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = request(url, {
      method,
      headers,
      // With what browsers offer, too.
      createConnection: () =>
        connect({
          ca,
          host: hostname,
          port: Number(port),
          servername: 'localhost',
          ALPNProtocols: ['h2', 'http/1.1'],
        }),
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const socket = response.socket as TLSSocket
      const { CN } = socket.getPeerCertificate().subject
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text,
          name: Array.isArray(CN) ? CN[0] : CN,
          alpn: socket.alpnProtocol,
        }),
      )
    })
    sent.end(body)
  })
}
