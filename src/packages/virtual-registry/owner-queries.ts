import { Role } from '../../access/roles.ts'
import type { Day } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

export async function findGroupPath(db: Db, groupId: number): Promise<string> {
  const { full_path } = await db
    .selectFrom('namespaces')
    .select('full_path')
    .where('id', '=', groupId)
    .executeTakeFirstOrThrow()
  return full_path
}

export async function listOwnerIds(db: Db, groupId: number, today: Day): Promise<number[]> {
  const rows = await db
    .selectFrom('members')
    .select('user_id')
    .where('source_type', '=', 'group')
    .where('source_id', '=', groupId)
    .where('access_level', '>=', Role.owner)
    .where('requested_at', 'is', null)
    .where('state', '=', 'active')
    .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', today)]))
    .execute()
  return rows.flatMap((row) => row.user_id ?? [])
}
