import type { Db } from '../../store/schema.ts'

/** The levels of bots in a project or group, by user. */
export async function findBotLevels(
  db: Db,
  source: { readonly type: 'group' | 'project'; readonly id: number },
  userIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (userIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('members')
    .select(['user_id', 'access_level'])
    .where('source_type', '=', source.type)
    .where('source_id', '=', source.id)
    .where('user_id', 'in', userIds)
    .execute()
  return new Map(rows.map((row) => [row.user_id ?? 0, row.access_level]))
}
