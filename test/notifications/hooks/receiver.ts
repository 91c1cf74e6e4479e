import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Something that a hook sent. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly url: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever shape the payload has
  readonly body: any
}

/** A server that hooks are pointed at. */
export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** How it answers from now on; 200 unless it is set. */
  answer(how: (response: ServerResponse) => void): void
  close(): Promise<void>
}

export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let how: (response: ServerResponse) => void = (response) => response.end('ok')
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    received.push({ headers: request.headers, url: request.url ?? '', body: JSON.parse(text) })
    how(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answer: (next) => {
      how = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
