import type { Readable } from 'node:stream'

/** How long a sender is silent that has nothing more to send. */
const silenceMs = 5000

/** Takes what a client still sends and drops it: to its end, or until it falls silent. */
export function dropRest(input: Readable): Promise<void> {
  return new Promise((resolve) => {
    let timer = setTimeout(done, silenceMs)
    function done() {
      clearTimeout(timer)
      input.off('data', more)
      for (const event of ['end', 'close', 'error']) input.off(event, done)
      resolve()
    }
    function more() {
      clearTimeout(timer)
      timer = setTimeout(done, silenceMs)
    }
    for (const event of ['end', 'close', 'error']) input.once(event, done)
    if (input.readableEnded || input.destroyed) return done()
    input.on('data', more)
    input.resume()
  })
}
