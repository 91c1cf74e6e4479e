import type { Socket } from 'node:net'

/**
 * Waits for a client to take what lies ready for it: throws when it is gone, and after `readerIdle` milliseconds, when its
 * connection is cut.
 */
export async function withinPatience(
  work: Promise<unknown>,
  { socket, signal, readerIdle }: Reader,
): Promise<void> {
  const late = new Error('the client takes nothing')
  let timer: NodeJS.Timeout | undefined
  let leave = () => {}
  const given = new Promise<never>((_, reject) => {
    const gone = () => reject(signal.reason)
    leave = () => signal.removeEventListener('abort', gone)
    signal.addEventListener('abort', gone, { once: true })
    timer = setTimeout(() => {
      reject(late)
      socket.destroy()
    }, readerIdle)
  })
  try {
    await Promise.race([work, given])
  } finally {
    clearTimeout(timer)
    leave()
  }
}

interface Reader {
  readonly socket: Socket
  readonly signal: AbortSignal
  /** How long a client may take nothing of what lies ready for it. */
  readonly readerIdle: number
}
