import { Readable } from 'node:stream'
import { unavailable } from '../../base/problem.ts'
import type { Bytes } from '../../http/endpoint.ts'
import type { TraceEvent } from '../traces/follow-trace.ts'

/** Connections that follow logs at a time. */
const MOST_FOLLOWERS = 200
const AGAIN_SECONDS = 5
/** What lies between closes connections that say nothing. */
const SAY_MS = 15_000

let followers = 0

/** Server-sent events as they come; refused while too many are sent already. */
export function eventStream(events: AsyncIterable<TraceEvent>): Bytes {
  if (followers >= MOST_FOLLOWERS) throw unavailable(undefined, AGAIN_SECONDS)
  followers += 1
  const body = Readable.from(written(events), { objectMode: false })
  body.once('close', () => {
    followers -= 1
  })
  return {
    body,
    type: 'text/event-stream',
    // A proxy that gathers what it passes on would hold the log back.
    headers: { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' },
  }
}

async function* written(events: AsyncIterable<TraceEvent>): AsyncGenerator<string> {
  let said = performance.now()
  for await (const event of events) {
    const isIdle = event.name === 'wait'
    if (isIdle && performance.now() - said < SAY_MS) continue
    said = performance.now()
    yield isIdle ? ': \n\n' : textOf(event)
  }
}

/** An event as it goes to the wire; its id is where the log goes on, for clients that come again. */
function textOf(event: Exclude<TraceEvent, { readonly name: 'wait' }>): string {
  const { name, end, ...data } = event
  return `id: ${end}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
