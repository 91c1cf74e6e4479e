import { setTimeout } from 'node:timers/promises'
import type { Db } from '../../src/store/schema.ts'
import type { World } from './world.ts'

/**
 * Sends requests that all wait for another writer: each has read by then what it reads before its turn. `write` is what
 * the other one writes in the end.
 */
export async function atOnce<T>(
  world: World,
  acts: readonly (() => Promise<T>)[],
  write: (db: Db) => Promise<unknown> = async () => {},
): Promise<readonly T[]> {
  const { sent } = await world.ctx.db.transaction().execute(async (db) => {
    const sent = acts.map((act) => act())
    await setTimeout(300)
    await write(db)
    return { sent }
  })
  return await Promise.all(sent)
}
