import type { Actor } from './actor.ts'

interface Remembering {
  readonly actor: Actor
  readonly memory?: RequestMemory
}

/** What the calls of one page have looked up, by whom they were made for: kept as long as the page is drawn. */
export type RequestMemory = WeakMap<Actor, Map<string, Promise<unknown>>>

/**
 * What `find` gives, looked up once for each page: the calls of a page ask for the same project, roles and members. Requests of
 * the API and forms have no memory, so that they see what they have changed.
 */
export async function remember<T>(
  ctx: Remembering,
  key: string,
  find: () => Promise<T>,
): Promise<T> {
  if (!ctx.memory) return await find()
  const known = ctx.memory.get(ctx.actor) ?? new Map<string, Promise<unknown>>()
  ctx.memory.set(ctx.actor, known)
  const found = known.get(key)
  // A key names one look-up, and so one type.
  if (found) return (await found) as T
  const looking = find()
  known.set(key, looking)
  return await looking
}
