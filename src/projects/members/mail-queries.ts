import type { SourceRef } from '../../access/sources.ts'
import type { Db } from '../../store/schema.ts'

export async function findSourcePath(
  db: Db,
  source: SourceRef,
): Promise<{ readonly path: string; readonly name: string } | undefined> {
  const table = source.type === 'group' ? 'namespaces' : 'projects'
  return await db
    .selectFrom(table)
    .select(['full_path as path', 'name'])
    .where('id', '=', source.id)
    .executeTakeFirst()
}

/** Persons who decide about access: direct members of this level, ten at most, the latest active first. */
export async function listManagerIds(db: Db, source: SourceRef, least: number): Promise<number[]> {
  const rows = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select('users.id')
    .where('members.source_type', '=', source.type)
    .where('members.source_id', '=', source.id)
    .where('members.access_level', '>=', least)
    .where('members.requested_at', 'is', null)
    .where('users.state', '=', 'active')
    .where('users.kind', '=', 'human')
    .orderBy('users.last_activity_on', 'desc')
    .orderBy('users.id')
    .limit(10)
    .execute()
  return rows.map((row) => row.id)
}
