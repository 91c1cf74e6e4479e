import type { Db } from './schema.ts'

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
