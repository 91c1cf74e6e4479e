import type { AccessTokenRow } from '../../access/authentication/token-queries.ts'
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
  const rows = await listOwnedTokens(ctx, owner, filters, page)
  return { ...rows, items: rows.items.map((row) => presentToken(row, ctx.now())) }
}

/** One page of the tokens that a user, or the bots of a project or group, have. */
export function listOwnedTokens(
  ctx: Ctx,
  owner: TokenOwner,
  filters: TokenFilters,
  page: Page,
): Promise<Paged<AccessTokenRow>> {
  return listTokenRows(ctx.db, owner, filters, dayOf(ctx.now()), page)
}
