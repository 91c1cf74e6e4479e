import { sql } from 'kysely'
import type { SourceType } from './schema/core.ts'
import type { Db } from './schema.ts'

/** The next number of this kind inside a project (or group): taken in the transaction that inserts the row. */
export async function nextIid(
  db: Db,
  scopeId: number,
  kind: string,
  scope: SourceType = 'project',
): Promise<number> {
  const row = await db
    .insertInto('internal_ids')
    .values({ scope, scope_id: scopeId, kind, last: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['scope', 'scope_id', 'kind'])
        .doUpdateSet({ last: sql`internal_ids.last + 1` }),
    )
    .returning('last')
    .executeTakeFirstOrThrow()
  return row.last
}

/** Notes that a number of a project was given by hand (imports do), so that later ones are higher. */
export async function reserveIid(
  db: Db,
  scopeId: number,
  kind: string,
  iid: number,
): Promise<void> {
  await db
    .insertInto('internal_ids')
    .values({ scope: 'project', scope_id: scopeId, kind, last: iid })
    .onConflict((conflict) =>
      conflict
        .columns(['scope', 'scope_id', 'kind'])
        .doUpdateSet({ last: sql`max(internal_ids.last, ${iid})` }),
    )
    .execute()
}
