/** What we need of a stream that is written to. */
interface Sink {
  once(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
}

/** Waits until a full stream takes more, or is closed by its reader. */
export function drained(sink: Sink): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      sink.off('drain', done)
      sink.off('close', done)
      resolve()
    }
    sink.once('drain', done)
    sink.once('close', done)
  })
}
