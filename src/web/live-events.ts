import { Readable } from 'node:stream'
import type { Ctx } from '../ctx.ts'
import type { Bytes, RequestFacts } from '../http/endpoint.ts'
import { eventStreamHeaders, Followers } from '../http/followers.ts'
import { follow, type LiveChange } from '../store/live/follow-rows.ts'
import type { LiveState, Watched } from '../store/live/row-watch.ts'

const followers = new Followers({ most: 1000, ofCaller: 20, things: 'pages' })
const AGAIN_MS = 2000

interface Followed<K, S extends LiveState> {
  readonly watched: Watched<K, S>
  readonly key: K
  /** How the page has seen it. */
  readonly seen: string | undefined
  /** The ids of the parts of the page that have to be drawn again. */
  partsOf(changed: readonly (keyof S)[]): readonly string[]
}

/** Sends an open page which of its parts have changed, by server-sent events. */
export function liveEvents<K, S extends LiveState>(
  ctx: Ctx,
  request: RequestFacts,
  { watched, key, partsOf, ...given }: Followed<K, S>,
): Bytes {
  const last = request.headers['last-event-id']
  const seen = typeof last === 'string' && last !== '' ? last.slice(0, 100) : given.seen
  const { signal, stopping } = request
  const leave = followers.enter(ctx)
  const changes = follow(ctx, watched, { key, seen, signal, stopping })
  const body = Readable.from(written(changes, partsOf), { objectMode: false })
  body.once('close', leave)
  return { body, type: 'text/event-stream', headers: eventStreamHeaders }
}

async function* written<S extends LiveState>(
  changes: AsyncIterable<LiveChange<S>>,
  partsOf: Followed<unknown, S>['partsOf'],
): AsyncGenerator<string> {
  yield `retry: ${AGAIN_MS}\n\n`
  for await (const { seen, changed } of changes) {
    const parts = partsOf(changed).join(' ')
    yield parts === '' ? ': \n\n' : `id: ${seen}\nevent: changed\ndata: ${parts}\n\n`
  }
}
