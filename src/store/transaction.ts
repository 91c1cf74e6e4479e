import type { Db } from './schema.ts'
import { StoreConnection } from './sqlite/driver.ts'

/**
 * Runs `act` in one write transaction; inside, `ctx.db` is the transaction. A nested call joins the one that is open.
 * No git, files, network or timers inside: other writers wait.
 */
export async function inTransaction<C extends { readonly db: Db }, T>(
  ctx: C,
  act: (ctx: C) => Promise<T>,
): Promise<T> {
  if (ctx.db.isTransaction) return act(ctx)
  return ctx.db.transaction().execute((db) => act({ ...ctx, db }))
}

/**
 * Lets the open transaction end without waiting for the disk. Only for what can be found out again after a power cut
 * from things that are on the disk already: such a cut may take the transaction with it, as a whole.
 */
export async function flushLater(db: Db): Promise<void> {
  if (!db.isTransaction) throw new Error('flushLater outside of a transaction')
  await db.getExecutor().provideConnection(async (connection) => {
    if (connection instanceof StoreConnection) connection.flushLater()
  })
}
