import { Readable } from 'node:stream'
import type { Ctx } from '../../ctx.ts'
import type { Bytes } from '../../http/endpoint.ts'
import { eventStreamHeaders, Followers } from '../../http/followers.ts'
import type { TraceEvent } from '../traces/follow-trace.ts'

/** Connections that follow logs at a time. */
const MOST_FOLLOWERS = 200
/** Of them those of one caller. */
const MOST_OF_CALLER = 20
/** What lies between closes connections that say nothing. */
const SAY_MS = 15_000

const followers = new Followers({ most: MOST_FOLLOWERS, ofCaller: MOST_OF_CALLER, things: 'logs' })

/** Server-sent events as they come; refused while too many are sent already, to this caller or to all. */
export function eventStream(
  ctx: Pick<Ctx, 'actor' | 'ip'>,
  events: AsyncIterable<TraceEvent>,
): Bytes {
  const leave = followers.enter(ctx)
  const body = Readable.from(written(events), { objectMode: false })
  body.once('close', leave)
  return {
    body,
    type: 'text/event-stream',
    headers: eventStreamHeaders,
  }
}

async function* written(events: AsyncIterable<TraceEvent>): AsyncGenerator<string> {
  // The first of them brings the headers to the client, also when the log is empty still.
  let said = Number.NEGATIVE_INFINITY
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
