import { type LiveState, rowWatch, type Watched, type WatchingCtx } from './row-watch.ts'

/** What closes silent connections lies between. */
const SAY_MS = 15_000
/** Then the browser comes again by itself, and it is looked at again whether they may. */
const LONGEST_MS = 5 * 60_000

/** What has changed of a thing since its reader last saw it; nothing as a sign of life. */
export interface LiveChange<S extends LiveState> {
  /** Where it stands now, as `seen` of who comes again. */
  readonly seen: string
  readonly changed: readonly (keyof S)[]
}

interface Following<K> {
  readonly key: K
  /** How the reader has seen it last. */
  readonly seen: string | undefined
  readonly signal: AbortSignal
  readonly stopping: AbortSignal
}

/** How a thing is now, for a page that will follow it from here on. */
export async function liveStateOf<K, S extends LiveState>(
  ctx: Pick<WatchingCtx, 'db'>,
  watched: Watched<K, S>,
  key: K,
): Promise<string> {
  const state = (await watched.read(ctx.db, [key])).get(key)
  return state ? textOf(state) : ''
}

function textOf(state: LiveState): string {
  return Object.values(state).join('.')
}

function changesOf<S extends LiveState>(seen: string, now: S): (keyof S)[] {
  const before = seen.split('.')
  // The names of its texts are all that a state has.
  const names = Object.keys(now) as (keyof S)[]
  return names.filter((name, at) => before[at] !== now[name])
}

/** The changes of a thing as they come, until the reader is gone or the server stops. */
export async function* follow<K, S extends LiveState>(
  ctx: WatchingCtx,
  watched: Watched<K, S>,
  { key, seen: first, signal, stopping }: Following<K>,
): AsyncGenerator<LiveChange<S>> {
  const end = AbortSignal.any([signal, stopping])
  const until = performance.now() + LONGEST_MS
  let now: S | undefined
  let wake = () => {}
  const leave = rowWatch(ctx, watched).follow(key, (state) => {
    now = state
    wake()
  })
  try {
    now ??= (await watched.read(ctx.db, [key])).get(key)
    let seen = first ?? (now ? textOf(now) : '')
    while (!end.aborted && performance.now() < until) {
      const changed = now ? changesOf(seen, now) : []
      if (now) seen = textOf(now)
      yield { seen, changed }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, SAY_MS)
        const done = () => {
          clearTimeout(timer)
          end.removeEventListener('abort', done)
          resolve()
        }
        wake = done
        end.addEventListener('abort', done, { once: true })
        if (end.aborted || (now && changesOf(seen, now).length > 0)) done()
      })
    }
  } finally {
    leave()
  }
}
