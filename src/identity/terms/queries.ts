import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'

/** Remembers that somebody accepted terms; the first time counts. */
export async function insertAgreement(
  db: Db,
  row: { readonly user_id: number; readonly digest: string; readonly accepted_at: Instant },
): Promise<void> {
  await db
    .insertInto('terms_agreements')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
