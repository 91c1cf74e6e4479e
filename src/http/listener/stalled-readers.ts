import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/**
 * Ends connections whose client takes nothing of an answer that lies ready for it: behind it wait a file, a program or
 * memory that others need. An answer that is still being made is waited for as long as it takes.
 */
export function cutOffStalledReaders(server: Server, idleMs: number): void {
  const watch = (_request: IncomingMessage, response: ServerResponse) => {
    // The socket counts from its last byte in either direction, and sees a large piece go out bit by bit.
    response.setTimeout(idleMs, () => {
      if (response.writableLength > 0) response.destroy()
      else response.setTimeout(idleMs)
    })
  }
  server.prependListener('request', watch)
  server.prependListener('checkContinue', watch)
}
