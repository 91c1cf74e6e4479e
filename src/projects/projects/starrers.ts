import type { Ctx } from '../../ctx.ts'
import { presentUserBasic } from '../../identity/users/basic.ts'
import type { StarrerRow } from './star-queries.ts'

/** A user who starred a project, and since when. */
export function presentStarrer(ctx: Ctx, { starred_since, ...user }: StarrerRow) {
  return { starred_since, user: presentUserBasic(ctx, user) }
}
