import { dayOf } from '../../base/clock.ts'
import type { Page, Paged } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import { presentToken, type Token } from './entity.ts'
import { listTokenRows, type TokenOwner } from './list-queries.ts'
import type { TokenFilters } from './params.ts'

/** One page of somebody's tokens, ready for the wire. */
export async function listTokens(
  ctx: Ctx,
  owner: TokenOwner,
  filters: TokenFilters,
  page: Page,
): Promise<Paged<Token>> {
  const rows = await listTokenRows(ctx.db, owner, filters, dayOf(ctx.now()), page)
  return { ...rows, items: rows.items.map((row) => presentToken(row, ctx.now())) }
}
