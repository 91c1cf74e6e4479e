import { audit } from '../../../access/audit.ts'
import { runEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import {
  authorTables,
  deleteAuthored,
  deleteUserRow,
  moveAuthored,
  type UserRow,
} from '../queries.ts'
import { getGhost } from './ghost.ts'

export interface DeleteOptions {
  /** What the user wrote goes too, and so do groups that nobody else owns. */
  readonly hard: boolean
}

/** Removes a user for good: what they wrote becomes the ghost's, or goes with `hard` (docs/contract/D §1.1). */
export async function removeUser(ctx: Ctx, user: UserRow, options: DeleteOptions): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await runEffects(inner, inner.effects.userRemoved, user)
    const ghost = options.hard ? undefined : await getGhost(inner)
    for (const table of await authorTables(inner.db)) {
      if (ghost) await moveAuthored(inner.db, table, user.id, ghost.id)
      else await deleteAuthored(inner.db, table, user.id)
    }
    await deleteUserRow(inner.db, user.id)
    await audit(inner, {
      entity: { type: 'User', id: user.id },
      action: 'user_deleted',
      details: { username: user.username, hard: options.hard },
    })
  })
}
