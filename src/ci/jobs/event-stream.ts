import { Readable } from 'node:stream'
import { callerKey } from '../../access/caller-key.ts'
import { tooManyAtOnce, unavailable } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Bytes } from '../../http/endpoint.ts'
import type { TraceEvent } from '../traces/follow-trace.ts'

/** Connections that follow logs at a time. */
const MOST_FOLLOWERS = 200
/** Of them those of one caller. */
const MOST_OF_CALLER = 20
const AGAIN_SECONDS = 5
/** What lies between closes connections that say nothing. */
const SAY_MS = 15_000

let followers = 0
const followersByCaller = new Map<string, number>()

/** Server-sent events as they come; refused while too many are sent already, to this caller or to all. */
export function eventStream(
  ctx: Pick<Ctx, 'actor' | 'ip'>,
  events: AsyncIterable<TraceEvent>,
): Bytes {
  const leave = enter(callerKey(ctx) ?? '')
  const body = Readable.from(written(events), { objectMode: false })
  body.once('close', leave)
  return {
    body,
    type: 'text/event-stream',
    // A proxy that gathers what it passes on would hold the log back.
    headers: { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' },
  }
}

/** Counts a follower until the function that it gives is called. */
function enter(caller: string): () => void {
  const own = followersByCaller.get(caller) ?? 0
  if (own >= MOST_OF_CALLER) {
    const text = `No more than ${MOST_OF_CALLER} logs can be followed at a time. Try again later.`
    throw tooManyAtOnce(text, AGAIN_SECONDS)
  }
  if (followers >= MOST_FOLLOWERS) throw unavailable(undefined, AGAIN_SECONDS)
  followers += 1
  followersByCaller.set(caller, own + 1)
  return () => {
    followers -= 1
    const left = (followersByCaller.get(caller) ?? 1) - 1
    if (left > 0) followersByCaller.set(caller, left)
    else followersByCaller.delete(caller)
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
