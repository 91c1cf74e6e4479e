import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/** The namespace that every person has; its path is the username. */
export async function insertUserNamespace(
  db: Db,
  user: { readonly id: number; readonly username: string; readonly name: string },
  now: Instant,
): Promise<void> {
  await db
    .insertInto('namespaces')
    .values({
      kind: 'user',
      name: user.name,
      path: user.username,
      full_path: user.username,
      full_name: user.name,
      owner_id: user.id,
      visibility: 'public',
      creator_id: user.id,
      created_at: now,
      updated_at: now,
    })
    .execute()
}

/** Gives the namespace the user's new name; the routes, and projects below, follow by triggers. */
export async function renameUserNamespace(
  db: Db,
  user: { readonly id: number; readonly username: string; readonly name: string },
  now: Instant,
): Promise<void> {
  await db
    .updateTable('namespaces')
    .set({
      name: user.name,
      full_name: user.name,
      path: user.username,
      full_path: user.username,
      updated_at: now,
    })
    .where('owner_id', '=', user.id)
    .where('kind', '=', 'user')
    .execute()
}
