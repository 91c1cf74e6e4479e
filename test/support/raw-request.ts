import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** What came over a connection until it was closed. */
export interface RawReply {
  /** Of the last answer: `100 Continue` is none. */
  readonly status: number
  readonly text: string
  /** Whether the server said `100 Continue`. */
  readonly continued: boolean
}

/** A connection on which a test writes what it likes. */
export class RawClient {
  readonly socket: Socket
  #text = ''
  #closed = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#text += text
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#closed = true
    })
  }

  static async open(url: string): Promise<RawClient> {
    const { port, hostname } = new URL(url)
    const socket = connect(Number(port), hostname)
    const client = new RawClient(socket)
    await once(socket, 'connect')
    return client
  }

  write(data: string | Uint8Array): this {
    this.socket.write(data)
    return this
  }

  get text(): string {
    return this.#text
  }

  /** The answer, once its head is there. */
  async head(): Promise<RawReply> {
    while (!/HTTP\/1\.1 (?!100)\d{3}[\s\S]*?\r\n\r\n/.test(this.#text) && !this.#closed) {
      await Promise.race([once(this.socket, 'data'), once(this.socket, 'close')])
    }
    return this.#reply()
  }

  /** Everything until the server closes the connection. */
  async whole(): Promise<RawReply> {
    if (!this.#closed) await once(this.socket, 'close')
    return this.#reply()
  }

  #reply(): RawReply {
    const statuses = [...this.#text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((found) =>
      Number(found[1]),
    )
    return {
      status: statuses.findLast((status) => status !== 100) ?? 0,
      text: this.#text,
      continued: statuses.includes(100),
    }
  }
}

/** The head of a request with these headers, lines as HTTP wants them. */
export function headOf(line: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return [`${line} HTTP/1.1`, ...lines, '', ''].join('\r\n')
}

/** A form with a file in it, as browsers send it. */
export function multipart(
  parts: readonly { readonly name: string; readonly filename?: string; readonly value: string }[],
): { readonly type: string; readonly body: Buffer } {
  const boundary = 'x-boundary-of-the-test'
  const text = parts.map(({ name, filename, value }) => {
    const file =
      filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: text/plain`
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`
  })
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.from(`${text.join('')}--${boundary}--\r\n`),
  }
}
