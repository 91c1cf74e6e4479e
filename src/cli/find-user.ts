import { notFoundText } from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'
import { findUserByIdOrName, type UserRow } from '../identity/users/queries.ts'

/** The user whom an operator names, or a sentence that says who is not there. */
export async function namedUser(ctx: Ctx, name: string): Promise<UserRow> {
  const found = await findUserByIdOrName(ctx.db, name)
  if (!found) throw notFoundText(`there is no user '${name}'`)
  return found
}
