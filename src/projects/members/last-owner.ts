import { Role } from '../../access/roles.ts'
import type { Source } from '../../access/sources.ts'
import { forbidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { countOtherOwners, findNamespaceOwner } from './queries.ts'
import type { MemberRow } from './rows.ts'

/** Whether a group would be without an owner, or a personal project without its own, if this membership ended. */
export async function isLastOwner(ctx: Ctx, source: Source, row: MemberRow): Promise<boolean> {
  if (row.access_level !== Role.owner || row.user_id === null) return false
  if (source.type === 'project') {
    return (await findNamespaceOwner(ctx.db, source.namespaceId)) === row.user_id
  }
  return (await countOtherOwners(ctx.db, source.id, row.user_id)) === 0
}

/** 403 for the last owner. Asked inside the transaction that writes: two owners who leave at once must not both go. */
export async function assertNotLastOwner(ctx: Ctx, source: Source, row: MemberRow): Promise<void> {
  if (await isLastOwner(ctx, source, row)) throw forbidden()
}
