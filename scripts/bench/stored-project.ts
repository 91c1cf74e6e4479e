import type { Instant } from '../../src/base/clock.ts'
import type { Db } from '../../src/store/schema.ts'

/** Puts a private project of a group into a database, for what is measured in SQL alone; gives its id. */
export async function insertProject(db: Db, now: Instant): Promise<number> {
  const stamps = { created_at: now, updated_at: now }
  const space = { kind: 'group', name: 'g', path: 'g', full_path: 'g', full_name: 'g' } as const
  const { id: namespace_id } = await db
    .insertInto('namespaces')
    .values({ ...space, visibility: 'private', ...stamps })
    .returning('id')
    .executeTakeFirstOrThrow()
  const named = { name: 'p', path: 'p', full_path: 'g/p', last_activity_at: now } as const
  const { id } = await db
    .insertInto('projects')
    .values({ namespace_id, ...named, visibility: 'private', ...stamps })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
