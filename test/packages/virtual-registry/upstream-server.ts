import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What an upstream answers to one path. */
export interface Prepared {
  readonly body?: string
  readonly status?: number
  /** `null` leaves a header out. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** Answers by itself; the request is not answered otherwise. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => void
}

/** A Maven repository that does what a test wants, and says what it was asked for. */
export class UpstreamServer {
  readonly #server: Server
  /** By path, without the slash before. */
  files: Record<string, Prepared> = {}
  asked: { readonly line: string; readonly headers: IncomingMessage['headers'] }[] = []
  url = ''

  private constructor() {
    this.#server = createServer((request, response) => {
      const path = (request.url ?? '').slice(1)
      this.asked.push({ line: `${request.method} ${path}`, headers: request.headers })
      const found = this.files[path]
      if (found?.answer) found.answer(request, response)
      else if (!found) response.writeHead(404).end()
      else send(request, response, found)
    })
  }

  static async open(): Promise<UpstreamServer> {
    const opened = new UpstreamServer()
    await new Promise<void>((done) => opened.#server.listen(0, '127.0.0.1', done))
    const { port } = opened.#server.address() as AddressInfo
    opened.url = `http://127.0.0.1:${port}`
    return opened
  }

  get lines(): string[] {
    return this.asked.map((one) => one.line)
  }

  reset(): void {
    this.files = {}
    this.asked = []
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }
}

function send(request: IncomingMessage, response: ServerResponse, found: Prepared): void {
  const { body = '', status = 200, headers = {} } = found
  const all = { 'Content-Length': String(Buffer.byteLength(body)), ETag: '"1"', ...headers }
  for (const [name, value] of Object.entries(all))
    if (value !== null) response.setHeader(name, value)
  response.writeHead(status).end(request.method === 'HEAD' ? undefined : body)
}
